"""decoding.py: whatever is cached, padded or repeated, the logits are those of the text read at once."""

import pytest
import torch
from checking import raises
from torch import nn

from transformer_lib.configs import EncoderConfig, EncoderDecoderConfig, LMConfig
from transformer_lib.decoding import Continuation, Translation, begin, check_ids
from transformer_lib.models import EncoderDecoder, TransformerEncoder, TransformerLM

V, START, NEW = 23, 1, 4
SOURCES = [[5, 3, 9, 2, 8, 4, 7], [6], [2, 2, 11, 13]]
POSITIONS = ["learned", "sinusoidal", "rotary", "alibi", "none"]


def randomised(model):
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.double().eval()


def language_model(positions="learned", **other):
    shape = {"vocab_size": V, "d_model": 12, "n_layers": 2, "n_heads": 2, "max_length": 17, **other}
    return randomised(TransformerLM(LMConfig(positions=positions, **shape)))


def translator(positions="sinusoidal", **other):
    shape = {"vocab_size": V, "d_model": 12, "n_layers": 2, "n_heads": 2, "max_length": 17, **other}
    return randomised(EncoderDecoder(EncoderDecoderConfig(positions=positions, **shape)))


def alone(model, source, target):
    """Logits after each word of the target, from one text read at once without caches."""
    if isinstance(model, TransformerLM):
        return model(torch.tensor([source + target]))[0, len(source) - 1 :]
    return model(torch.tensor([source]), torch.tensor([[START, *target]]))[0]


def close(found, expected):
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("unrolled", [True, False])
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("make", [language_model, translator])
@torch.no_grad()
def test_every_row_of_a_batch_is_read_as_if_alone(make, positions, unrolled):
    model = make(positions)
    start_id = START if make is translator else None
    targets = torch.randint(0, V, (len(SOURCES), NEW)).tolist()
    expected = [alone(model, *pair) for pair in zip(SOURCES, targets, strict=True)]
    for rows in ([0, 1, 2], [1], [0, 0]):  # ragged, alone, of one length
        reader = begin(model, [SOURCES[row] for row in rows], NEW + 1, start_id)
        if not unrolled:
            reader.step = None
        logits = [reader.logits(reader.ids)]
        logits += [reader.logits(torch.tensor([[targets[row][t]] for row in rows])) for t in range(NEW)]
        for found, row in zip(torch.stack(logits, 1), rows, strict=True):
            close(found, expected[row])


@pytest.mark.parametrize("make", [language_model, translator])
@torch.no_grad()
def test_several_words_at_once_after_the_prompt(make):
    model, target = make(), [3, 8, 5, 2]
    for split in range(1, 4):
        reader = begin(model, [SOURCES[0]], NEW + 1, START if make is translator else None)
        reader.logits(reader.ids)
        reader.logits(torch.tensor([target[:split]]))
        found = reader.logits(torch.tensor([target[split:]]))
        close(found[0], alone(model, SOURCES[0], target)[-1])


@pytest.mark.parametrize("make", [language_model, translator])
@pytest.mark.parametrize("rows", [[0, 1, 2], [2]])
@torch.no_grad()
def test_repeated_and_selected_rows_go_on_from_their_own_words(make, rows):
    model = make()
    reader = begin(model, [SOURCES[row] for row in rows], NEW + 1, START if make is translator else None)
    first = reader.logits(reader.ids)
    reader.repeat(2)
    words = torch.arange(3, 3 + 2 * len(rows))
    reader.logits(words[:, None])
    picked = torch.tensor([2 * row + (row + 1) % 2 for row in range(len(rows)) for _ in range(2)])
    reader.select(picked)
    found = reader.logits(torch.full((2 * len(rows), 1), 9))
    for i, row in enumerate(rows):
        close(first[i], alone(model, SOURCES[row], [])[0])
        expected = alone(model, SOURCES[row], [int(words[picked[2 * i]]), 9])[-1]
        close(found[2 * i], expected)
        close(found[2 * i + 1], expected)


@torch.no_grad()
def test_without_padding_there_is_no_mask_and_the_source_is_read_once():
    assert begin(language_model(), [[3, 4], [5, 6]], 2, None).mask is None
    model = translator()
    calls = []
    model.encoder[0].register_forward_hook(lambda *_: calls.append(1))
    reader = begin(model, [[3, 4], [5, 6]], 3, START)
    assert reader.memory_mask is None
    for _ in range(3):
        reader.logits(reader.ids)
    assert len(calls) == 1


def test_prompts_come_as_lists_tensors_or_a_batch(device):
    model = language_model().to(device)
    for prompts in ([[3, 4], [5, 6]], torch.tensor([[3, 4], [5, 6]]), [torch.tensor([3, 4]).int(), [5, 6]]):
        reader = begin(model, prompts, 1, None)
        assert isinstance(reader, Continuation)
        assert reader.ids.tolist() == [[3, 4], [5, 6]]
        assert reader.ids.device.type == device.type
    reader = begin(translator().to(device), prompts, 1, START)
    assert isinstance(reader, Translation)
    assert reader.ids.tolist() == [[START], [START]]


def test_wrong_input_is_named():
    lm, both = language_model(), translator("learned")
    cases = [
        (ValueError, r"at least one; got \[\]", lm, [], 3, None),
        (ValueError, r"lengths \[2, 0\]", lm, [[3, 4], []], 3, None),
        (ValueError, r"from 0 to 22; got \[3, 23\]", lm, [[3, V]], 3, None),
        (ValueError, r"from 0 to 22; got \[-1\]", lm, [[-1]], 3, None),
        (TypeError, r"list of ids; got torch.int64 of shape \(\)", lm, [3, 4], 3, None),
        (TypeError, r"list of ids; got torch.float32", lm, [[3.0]], 3, None),
        (TypeError, r"list of ids; got torch.bool", lm, torch.ones(1, 2).bool(), 3, None),
        (ValueError, "got 'Dog'", lm, "Dog", 3, None),
        (ValueError, "max_words must be at least 1; got 0", lm, [[3]], 0, None),
        (ValueError, "a TransformerLM takes none; got 1", lm, [[3]], 3, 1),
        (ValueError, "needs a start_id.*got None", both, [[3]], 3, None),
        (ValueError, r"start_id must hold ids from 0 to 22; got \[99\]", both, [[3]], 3, 99),
        (ValueError, "learned 17 positions.*take 18", lm, [[3] * 15], 4, None),
        (ValueError, "learned 17 positions.*take 18", both, [[3] * 18], 4, START),
        (ValueError, "learned 17 positions.*take 18", both, [[3]], 18, START),
        (ValueError, "training mode.*model.eval", language_model(dropout=0.1).train(), [[3]], 3, None),
        (TypeError, "TransformerLM or an EncoderDecoder; got TransformerEncoder", None, [[3]], 3, None),
    ]
    encoder = TransformerEncoder(EncoderConfig(vocab_size=V, d_model=12, n_heads=2))
    for kind, match, model, *arguments in cases:
        with raises(kind, match=match):
            begin(model or encoder, *arguments)
    assert len(check_ids(lm, "never", ())) == 0


def test_as_many_words_as_there_are_positions():
    for model, source, words, start in (
        (language_model(), [3] * 14, 4, None),  # the last of the 4 is not read
        (translator("learned"), [3] * 17, 17, START),
    ):
        reader = begin(model, [source], words, start)
        ids = reader.ids
        for _ in range(words):
            ids = reader.logits(ids).argmax(-1, keepdim=True)
    begin(language_model(dropout=0.0).train(), [[3]], 1, None)
