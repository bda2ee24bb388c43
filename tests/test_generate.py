"""generate.py: word for word what `transformers` writes; the samplers by hand, by count and against it."""

import types

import pytest
import torch
from checking import raises
from published import V, small

from transformer_lib.generate import Sampler, beam_search, generate, stream
from transformer_lib.pretrained import load_folder, special_ids

B, NEW, PAD = 4, 12, V - 1
INF = float("inf")


@pytest.fixture(scope="module", params=["gpt2", "llama", "marian"])
def pair(request, tmp_path_factory):
    """A published model with random weights, ours with the same, and its special ids."""
    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp(request.param)
    return small(request.param, folder, std=0.3), load_folder(folder), special_ids(folder)


@pytest.fixture(scope="module")
def lm(tmp_path_factory):
    torch.manual_seed(8)
    folder = tmp_path_factory.mktemp("lm")
    small("gpt2", folder, std=0.3)
    return load_folder(folder)


def some_prompts(lengths=(5, 2, 9, 1)):
    return [torch.randint(1, PAD, (length,)).tolist() for length in lengths]


def theirs(model, prompts, special, **options):
    """What `transformers` writes after the prompts, cut after the end word."""
    T, marian = max(map(len, prompts)), model.config.is_encoder_decoder
    ids, real = torch.full((len(prompts), T), PAD), torch.zeros(len(prompts), T, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        place = slice(0, len(prompt)) if marian else slice(T - len(prompt), T)
        ids[row, place], real[row, place] = torch.tensor(prompt), 1
    options = {"max_new_tokens": NEW, "do_sample": False, "pad_token_id": PAD, **options}
    out = model.generate(input_ids=ids, attention_mask=real, **options)[:, 1 if marian else T :]
    return [
        row[: row.index(special["end_id"]) + 1] if special["end_id"] in row else row for row in out.tolist()
    ]


# Against transformers


@pytest.mark.parametrize("lengths", [(5, 2, 9, 1), (4, 4, 4), (1,)])
def test_greedy_is_that_of_transformers(pair, lengths):
    published, ours, special = pair
    for _ in range(3):
        prompts = some_prompts(lengths)
        assert generate(ours, prompts, NEW, **special) == theirs(published, prompts, special)


@pytest.mark.parametrize(("beams", "length_penalty"), [(2, 1.0), (4, 1.0), (3, 0.0), (4, 1.7), (5, -0.5)])
def test_beam_search_is_that_of_transformers(pair, beams, length_penalty):
    published, ours, special = pair
    for prompts in (some_prompts(), some_prompts((3, 3))):
        found = beam_search(ours, prompts, NEW, beams=beams, length_penalty=length_penalty, **special)
        options = {"num_beams": beams, "length_penalty": length_penalty, "num_return_sequences": beams}
        expected = theirs(published, prompts, special, **options)
        texts = [text.ids for row in found for text in row]
        # a text may hold the padding's id; what stands after a shorter one is their padding
        for text, other in zip(texts, expected, strict=True):
            assert other[: len(text)] == text
            assert set(other[len(text) :]) <= {PAD}


def test_words_that_are_never_written_and_several_end_words(pair):
    published, ours, special = pair
    prompts, never = some_prompts(), [PAD, 3, *range(10, 30)]
    special = {**special, "never": never}
    bad = {"bad_words_ids": [[word] for word in never]}
    assert generate(ours, prompts, NEW, **special) == theirs(published, prompts, special, **bad)
    found = beam_search(ours, prompts, NEW, **special)
    expected = theirs(published, prompts, special, num_beams=4, **bad)
    for texts, other in zip(found, expected, strict=True):
        assert other[: len(texts[0].ids)] == texts[0].ids
    special["end_id"] = ends = (special["end_id"], 31, 32, 33, 34, 35)
    expected = theirs(published, prompts, {"end_id": None}, eos_token_id=list(ends), **bad)
    for text, other in zip(generate(ours, prompts, NEW, **special), expected, strict=True):
        assert other[: len(text)] == text
        assert len(text) == NEW or text[-1] in ends
        assert not set(text[:-1]) & set(ends)
    expected = theirs(published, prompts, {"end_id": None}, eos_token_id=list(ends), num_beams=3, **bad)
    for texts, other in zip(beam_search(ours, prompts, NEW, beams=3, **special), expected, strict=True):
        assert other[: len(texts[0].ids)] == texts[0].ids


def test_beams_go_on_even_if_the_best_words_all_end(pair):
    published, ours, special = pair
    [prompt] = some_prompts((4,))
    first = beam_search(ours, [prompt], 1, beams=9, **{**special, "end_id": None})[0]
    ends = [text.ids[0] for rank, text in enumerate(first) if rank != 2]  # the third goes on, two more must
    found = beam_search(ours, [prompt], NEW, beams=3, length_penalty=2.0, **{**special, "end_id": ends})[0]
    options = {"eos_token_id": ends, "num_beams": 3, "num_return_sequences": 3, "length_penalty": 2.0}
    expected = theirs(published, [prompt], {"end_id": None}, **options)
    assert [other[: len(text.ids)] for text, other in zip(found, expected, strict=True)] == [
        text.ids for text in found
    ]
    assert max(len(text.ids) for text in found) > 1


# Samplers


def test_draws_come_from_the_generator_alone(lm):
    def write(seed):
        sampler = Sampler(temperature=1.5, generator=torch.Generator().manual_seed(seed))
        return generate(lm, some_prompts_fixed, NEW, sampler=sampler)

    some_prompts_fixed = some_prompts()
    before = torch.get_rng_state()
    assert write(1) == write(1) != write(2)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(5)
    first = generate(lm, [[3]], NEW, sampler=Sampler(temperature=2.0))
    torch.manual_seed(5)
    assert generate(lm, [[3]], NEW, sampler=Sampler(temperature=2.0)) == first


def test_temperature_0_and_top_1_are_greedy(lm):
    prompts = some_prompts()
    greedy = generate(lm, prompts, NEW)
    assert generate(lm, prompts, NEW, sampler=Sampler(temperature=0.0, top_k=7)) == greedy
    assert generate(lm, prompts, NEW, sampler=Sampler(temperature=9.0, top_k=1)) == greedy
    assert generate(lm, prompts, NEW, sampler=lambda logits: logits.argmax(-1)) == greedy


# Streams


def test_greedy_is_the_arg_max_of_the_whole_text_read_anew_for_every_word(lm):
    for prompt in some_prompts():
        text = list(prompt)
        for _ in range(NEW):
            text.append(int(lm(torch.tensor([text]))[0, -1].argmax()))
        assert generate(lm, [prompt], NEW) == [text[len(prompt) :]]


def test_a_stream_gives_each_word_as_soon_as_it_is_chosen(lm):
    asked = []
    sampler = lambda logits: asked.append(1) or logits.argmax(-1)  # noqa: E731
    words = stream(lm, [[3, 4], [5]], NEW, sampler=sampler)
    assert isinstance(words, types.GeneratorType)
    for n in range(1, NEW + 1):
        ids = next(words)
        assert ids.shape == (2,)
        assert len(asked) == n
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()
    assert list(words) == []


def test_what_is_written_can_be_trained_with(lm):
    words = list(stream(lm, [[3, 4]], 3))
    lm(words[0][:, None]).sum().backward()
    lm.zero_grad(set_to_none=True)
    ids = torch.stack(words, 1)
    assert torch.equal(ids, torch.tensor(generate(lm, [[3, 4]], 3)))


def test_a_text_stops_at_its_end_word_and_a_batch_when_all_have(lm):
    prompts = some_prompts()
    free = generate(lm, prompts, NEW)
    ends = sorted({row[2 + i] for i, row in enumerate(free)})
    expected = [row[: next(t for t, word in enumerate(row, 1) if word in ends)] for row in free]
    assert generate(lm, prompts, NEW, end_id=ends) == expected
    steps = torch.stack(list(stream(lm, prompts, NEW, end_id=ends)), 1).tolist()
    longest = max(map(len, expected))
    assert steps == [row + [row[-1]] * (longest - len(row)) for row in expected]
    end = free[0][0]
    assert generate(lm, prompts[:1], NEW, end_id=end) == [[end]]
    assert len(list(stream(lm, prompts[:1], NEW, end_id=end))) == 1


# Beams


def test_scores_are_the_log_probabilities_of_the_texts(lm):
    prompts, alpha = some_prompts(), 0.7
    for prompt, texts in zip(
        prompts, beam_search(lm, prompts, NEW, length_penalty=alpha, end_id=4), strict=True
    ):
        assert len(texts) == 4
        assert [text.score for text in texts] == sorted((text.score for text in texts), reverse=True)
        assert len({tuple(text.ids) for text in texts}) == 4
        for ids, score in texts:
            log_p = lm(torch.tensor([prompt + ids]))[0, len(prompt) - 1 : -1].log_softmax(-1)
            total = log_p.gather(-1, torch.tensor(ids)[:, None]).sum().item()
            assert score == pytest.approx(total / len(ids) ** alpha, abs=1e-4)


def test_one_beam_is_greedy_and_more_find_likelier_texts(lm):
    prompts = some_prompts()
    one = beam_search(lm, prompts, NEW, beams=1)
    assert [texts[0].ids for texts in one] == generate(lm, prompts, NEW)
    many = beam_search(lm, prompts, NEW, beams=8)
    scores = [(few[0].score, more[0].score) for few, more in zip(one, many, strict=True)]
    assert sum(more for _, more in scores) > sum(few for few, _ in scores)


def test_a_prompt_does_not_depend_on_its_batch(pair):
    _, ours, special = pair
    prompts = some_prompts()
    together = beam_search(ours, prompts, NEW, **special)
    for prompt, texts in zip(prompts, together, strict=True):
        alone = beam_search(ours, [prompt], NEW, **special)[0]
        assert [text.ids for text in alone] == [text.ids for text in texts]


def test_it_writes_under_autocast(pair):
    """Each step from bfloat16 caches, close to the whole text read anew in bfloat16."""
    _, model, special = pair
    prompts = some_prompts()
    with torch.autocast("cpu", torch.bfloat16):
        written = generate(model, prompts, NEW, **special)
        beams = beam_search(model, prompts, NEW, **special)
        if "start_id" in special:
            return
        for found, prompt, words in zip(beams, prompts, written, strict=True):
            logits = model(torch.tensor([prompt + words]))[0, len(prompt) - 1 : -1].float()
            short = logits.amax(-1) - logits[range(len(words)), words]  # 0 where the likeliest was written
            assert short.max() < 0.05 * logits.std()
            assert found[0].score <= 0


def test_it_runs_on_every_device(lm, device):
    model, prompts = lm.to(device), some_prompts()
    generator = torch.Generator(device).manual_seed(0)
    sampler = Sampler(temperature=1.0, top_k=9, top_p=0.9, generator=generator)
    assert [len(ids) for ids in generate(model, prompts, 3, sampler=sampler)] == [3] * B
    assert [len(texts[0].ids) for texts in beam_search(model, prompts, 3)] == [3] * B
    model.cpu()


def test_wrong_input_is_named_before_the_first_word(lm):
    with raises(ValueError, match=r"a prompt must hold ids from 0 to 52; got \[53\]"):
        stream(lm, [[V]], 3)
    with raises(ValueError, match=r"end_id must hold ids from 0 to 52; got \[53\]"):
        stream(lm, [[3]], 3, end_id=V)
    with raises(ValueError, match=r"never must hold ids from 0 to 52; got \[-1\]"):
        beam_search(lm, [[3]], 3, never=[-1])
    for options in ({"beams": 0}, {"beams": 27}, {"beams": 18, "end_id": [1, 2]}, {"never": range(46)}):
        with raises(ValueError, match="beams must be at least 1 and at most"):
            beam_search(lm, [[3]], 3, **options)
    for beams, options in ((26, {}), (17, {"end_id": [1, 2]})):
        assert len(beam_search(lm, [[3]], 2, beams=beams, **options)[0]) == beams
