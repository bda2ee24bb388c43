"""Exercise 9.8: Your own Transformer. Every part is checked by itself; what passes goes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from transformer_lib.exercises.attempts import ordinary
from transformer_lib.exercises.chapter_09.assembled import Assembled, small_translator
from transformer_lib.exercises.chapter_09.cross_attention import cross_attention
from transformer_lib.exercises.chapter_09.decoder_block import decoder_block
from transformer_lib.exercises.chapter_09.greedy import greedy
from transformer_lib.exercises.chapter_09.loss_without_pads import loss_without_pads
from transformer_lib.exercises.chapter_09.parts import PARTS
from transformer_lib.exercises.chapter_09.shift_target import shift_target
from transformer_lib.exercises.diagnose import judge
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.restore import Printed, restored
from transformer_lib.exercises.runner import run_guarded

PAIRS = [("vierundzwanzig", "twenty-four"), ("sieben", "seven"), ("neunundachtzig", "eighty-nine")]
SENTENCES = [german for german, _ in PAIRS] + ["elf", "dreißig", "fünfundfünfzig"]


def my_transformer():
    return {
        "cross_attention": cross_attention,
        "decoder_block": decoder_block,
        "shift_target": shift_target,
        "loss_without_pads": loss_without_pads,
        "greedy": greedy,
    }


@dataclass(frozen=True)
class Assembly:
    """The learner's functions that go into the translator, and what kept others out of it."""

    own: dict[str, Callable] = field(default_factory=dict)
    problems: tuple[str, ...] = ()  # "KIND: name of the part"


def _translate(candidate: Callable[[], Any], sentences: list[str]) -> Any:
    """What the translator writes with these functions in it, and its loss."""
    given = candidate()
    if isinstance(given, Mapping):
        given = Assembly(own=dict(given))
    if not isinstance(given, Assembly):
        return None if given is None else {"translations": given, "loss": 0.0, "problems": ["kind: "]}
    translator = Assembled(small_translator(), given.own)
    return {
        "translations": [translator.translate(text) for text in sentences],
        "loss": translator.loss(PAIRS) if sentences == SENTENCES else 0.0,
        "problems": list(given.problems),
    }


def offered() -> dict[str, Exercise]:
    """The exercises whose functions can be parts."""
    from transformer_lib.exercises import catalogue

    return {e.name: e for e in catalogue() if e.name in PARTS and e.key[0] == PARTS[e.name].chapter}


def _guarded(job: Callable[[], Any], seconds: float) -> Any:
    """What the job returns, or its exception; None where it takes too long."""
    with restored(Printed()):
        outcome = run_guarded(job, seconds)
    return outcome.error if outcome.error is not None else outcome.value


def assemble(candidate: Any, seconds: float) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """The learner's functions checked one by one: a candidate that returns those that may be used, and
    for each part whose it is."""
    with ordinary():
        with restored(Printed()):
            small_translator()  # trained before any time is counted
        given = _guarded(candidate, seconds)
        if not isinstance(given, Mapping):
            return candidate, ()  # judged as it is
        exercises = offered()
        own, notes = {}, []
        problems = [f"unknown: {name}" for name in given if name not in exercises]
        for name, exercise in exercises.items():
            use = f"{exercise.id} {name}: {PARTS[name].use}"
            if name not in given:
                notes.append((use, "the library's"))
                continue
            result = judge(exercise, given[name], seconds)
            if result.status == "not attempted":
                notes.append((use, "the library's (not written yet)"))
            elif not result.passed:
                problems.append(f"fails: {name}")
                notes.append(
                    (use, f"the library's: yours does not pass exercise {exercise.id}, {result.mistake}")
                )
            elif (changed := _alone(name, given[name], seconds)) is not None:
                problems.append(f"changes: {name}")
                notes.append((use, f"the library's: {changed}"))
            else:
                own[name] = given[name]
                notes.append((use, "yours"))
    if not own and not problems:
        problems = ["nothing: "]
    assembly = Assembly(own, tuple(problems))
    written = _guarded(lambda: _translate(lambda: assembly, SENTENCES), seconds)
    if isinstance(written, dict):
        notes.append(("the translator reads: " + ", ".join(SENTENCES), ", ".join(written["translations"])))
    return lambda: assembly, tuple(notes)


def _alone(name: str, function: Callable, seconds: float) -> str | None:
    """What goes wrong with this function alone in the translator."""
    expected = _translate(dict, SENTENCES)
    got = _guarded(lambda: _translate(lambda: {name: function}, SENTENCES), seconds)
    if isinstance(got, BaseException):
        return f"yours passes its exercise, but raises {type(got).__name__} in the translator"
    if got is None:
        return "yours passes its exercise, but takes too long in the translator"
    same = got["translations"] == expected["translations"] and abs(got["loss"] - expected["loss"]) < 1e-4
    return None if same else "yours passes its exercise, but with it the translator writes or loses otherwise"


def _has(kind: str) -> Callable[[Attempt], bool]:
    return lambda attempt: any(p.startswith(f"{kind}:") for p in attempt.cases[-1].got["problems"])


OWN_TRANSFORMER = Exercise(
    id="9.8",
    title="Your own Transformer",
    kind="write",
    difficulty="hard",
    minutes=20,
    statement=r"""
You have written every formula of a Transformer. Now your functions take the place of the library's. The check
trains a small translator of its own with the library: numbers below 100, German to English, two layers, two
heads, post-norm, always the same weights. Then it puts **your** functions in, hands them these weights, and
translates. Word for word the same must come out.

Return a dictionary from names to functions. All names are optional, but at least one is needed. Functions
from
earlier chapters you paste into a cell above, as they are.

| name | from exercise | what it does in the translator |
|---|---|---|
| `self_attention` | chapter 2 | each head of the encoder's first layer |
| `head_weights` | chapter 3 | the weights of the encoder's second layer |
| `sinusoids` | chapter 4 | the positions |
| `feed_forward` | chapter 5 | the feed-forward networks |
| `hide_future`, `hide_padding` | chapter 6 | the masks |
| `masked_attention` | chapter 6 | the target reads itself, first layer |
| `split_heads`, `merge_heads` | chapter 7 | the heads |
| `multi_head_attention` | chapter 7 | the target reads itself, second layer |
| `layer_norm`, `post_norm_block` | chapter 8 | the norms; the encoder's blocks |
| `cross_attention`, `decoder_block` | this chapter | the target reads the source; the decoder's blocks |
| `shift_target`, `loss_without_pads` | this chapter | the loss on three pairs |
| `greedy` | this chapter | writing |

Each function is first checked as in its own exercise. One that passes is used. For all others the library's
stands in, and the card says which.
""",
    stub='''def my_transformer():
    """Your functions by name; leave out what you do not have."""
    raise NotImplementedError("take this line out")
    return {
        "cross_attention": cross_attention,
        "decoder_block": decoder_block,
        "shift_target": shift_target,
        "loss_without_pads": loss_without_pads,
        "greedy": greedy,
        # "layer_norm": layer_norm,  and so on, when you have pasted it above
    }
''',
    reference=my_transformer,
    run=_translate,
    prepare=assemble,
    cases=lambda generator: [(SENTENCES,)],
    hints=(
        'Begin with one function: `return {"greedy": greedy}`.',
        "Hand over the functions themselves, `greedy`, and not what they return, `greedy(…)`.",
        "A part that does not pass: go back to the check of its own exercise, which says why.",
    ),
    mistakes=(
        Mistake(
            name="no-dictionary",
            message='A dictionary was asked for, from names to functions: `{{"greedy": greedy}}`.',
            probe=_has("kind"),
        ),
        Mistake(
            name="unknown-part",
            message="The dictionary has a name that the table of the exercise does not have (or an exercise "
            "that is not there yet). Are all names spelled as in the table?",
            probe=_has("unknown"),
        ),
        Mistake(
            name="part-fails-its-check",
            message="A function of yours does not pass its own exercise. The library's stands in for it, and "
            "the translator works. The table names the part and its mistake: mend it, or leave it out.",
            probe=_has("fails"),
        ),
        Mistake(
            name="part-changes-the-translation",
            message="A function of yours passes its own exercise, and yet it does something else in the "
            "translator. The table says which. Does it keep something from one call to the next, or expect a "
            "certain size, or a certain id for start and end?",
            probe=_has("changes"),
        ),
        Mistake(
            name="no-part-of-yours",
            message="Nothing in the translator is yours yet. One function that passes its own check is "
            "enough "
            "to begin with.",
            probe=_has("nothing"),
        ),
    ),
)
