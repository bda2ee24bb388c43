"""weights.py: tensors in their places, and books that balance."""

import torch
from checking import raises
from torch import nn

from transformer_lib.weights import Family, fill


class Model(nn.Module):
    """Two layers, a table of words that is also the last map, and a bias of its own."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 3)
        self.layers = nn.ModuleList(nn.Linear(3, 4) for _ in range(12))
        self.last = nn.Linear(3, 7)
        self.last.weight = self.words.weight


FAMILY = Family(
    build=Model,
    names={"words": "w", "layers.*": "h.*.a h.*.b", "last": "head", "last.bias": "extra"},
    prefix="model.",
    copies={"head.weight": "w.weight"},
    ignored=("h.*.counter",),
)


def tensors():
    made = {"model.w.weight": torch.randn(7, 3), "extra": torch.randn(1, 7)}
    for i in range(12):
        for part in "ab":
            made[f"model.h.{i}.{part}.weight"] = torch.randn(2, 3)
            made[f"model.h.{i}.{part}.bias"] = torch.randn(2)
    return made


def test_every_parameter_is_read_from_its_tensors():
    given = tensors()
    for device in ("cpu", "meta"):
        with torch.device(device):
            model = Model()
        fill(model, FAMILY, given)
        assert torch.equal(model.words.weight, given["model.w.weight"])
        assert model.last.weight is model.words.weight  # still tied
        assert torch.equal(model.last.bias, given["extra"][0])
        for i, layer in enumerate(model.layers):
            for name, parameter in layer.named_parameters():
                parts = [given[f"model.h.{i}.{part}.{name}"] for part in "ab"]
                assert torch.equal(parameter, torch.cat(parts))
        assert all(parameter.requires_grad for parameter in model.parameters())


def test_the_prefix_may_be_absent_and_unneeded_tensors_present():
    given = {name.removeprefix("model."): tensor for name, tensor in tensors().items()}
    given |= {"h.3.counter": torch.arange(5), "head.weight": given["w.weight"].clone()}
    model = Model()
    fill(model, FAMILY, given, dtype=torch.float64)
    assert {p.dtype for p in model.parameters()} == {torch.float64}
    assert torch.equal(model.words.weight, given["w.weight"].double())


def test_numbers_of_half_size_are_widened():
    given = {name: tensor.bfloat16() for name, tensor in tensors().items()}
    model = Model()
    fill(model, FAMILY, given)
    assert torch.equal(model.words.weight, given["model.w.weight"].float())


def test_matrices_stored_the_other_way_round_are_turned():
    family = Family(
        build=nn.Identity, names={"a": "h.turned", "b": "h.kept"}, prefix="", transposed=("turned",)
    )
    model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
    given = {f"h.{name}.weight": torch.randn(3, 3) for name in ("turned", "kept")}
    given |= {f"h.{name}.bias": torch.randn(3) for name in ("turned", "kept")}
    fill(model, family, given)
    assert torch.equal(model["a"].weight, given["h.turned.weight"].T)
    assert torch.equal(model["a"].bias, given["h.turned.bias"])
    assert torch.equal(model["b"].weight, given["h.kept.weight"])


def test_scale_and_shift_of_a_norm_are_published_as_weight_and_bias():
    family = Family(build=nn.Identity, names={"n": "ln"}, prefix="")
    names = [family.published_names(f"n.{name}") for name in ("scale", "shift", "weight", "bias")]
    assert names == [["ln.weight"], ["ln.bias"], ["ln.weight"], ["ln.bias"]]


def refused(match, change):
    given = tensors()
    change(given)
    model = Model()
    before = {name: parameter.clone() for name, parameter in model.state_dict().items()}
    with raises(ValueError, match=match):
        fill(model, FAMILY, given)
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.state_dict().items())


def test_what_does_not_fit_is_named_and_nothing_is_changed():
    refused(r"missing h\.10\.b\.bias$", lambda given: given.pop("model.h.10.b.bias"))
    refused(
        r"left over h\.12\.a\.weight \(2, 3\)",
        lambda given: given.update({"model.h.12.a.weight": torch.zeros(2, 3)}),
    )
    refused(
        r"w\.weight \(7, 4\) should make \(7, 3\) for words\.weight",
        lambda given: given.update({"model.w.weight": torch.zeros(7, 4)}),
    )
    refused(
        r"h\.2\.a\.weight \(3, 3\), h\.2\.b\.weight \(2, 3\) should make \(4, 3\)",
        lambda given: given.update({"model.h.2.a.weight": torch.zeros(3, 3)}),
    )
    refused(r"extra \(7, 1\) should make \(7,\)", lambda given: given.update(extra=torch.zeros(7, 1)))
    refused(r"extra \(\) should make \(7,\)", lambda given: given.update(extra=torch.zeros(())))
    refused(
        r"head\.weight should be a copy of w\.weight",
        lambda given: given.update({"head.weight": torch.zeros(7, 3)}),
    )


def test_a_file_of_another_model_gives_a_short_message():
    refused(r"(missing [^;]+; ){8}and 18 more$", lambda given: given.clear())
