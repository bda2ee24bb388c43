MUTANTS = [
    ("no non-linearity", "self.narrow(self.activation(self.widen(x)))", "self.narrow(self.widen(x))"),
    ("always GELU", "self.narrow(self.activation(self.widen(x)))", "self.narrow(F.gelu(self.widen(x)))"),
    ("GELU approximated", '"gelu": F.gelu,', '"gelu": partial(F.gelu, approximate="tanh"),'),
    (
        "the gate on the wrong map",
        "self.activation(self.gate(x)) * self.widen(x)",
        "self.activation(self.widen(x)) * self.gate(x)",
    ),
    (
        "the gate added",
        "self.activation(self.gate(x)) * self.widen(x)",
        "self.activation(self.gate(x)) + self.widen(x)",
    ),
    (
        "mixes words",
        "return self.narrow(self.activation(self.widen(x)))",
        "return self.narrow(self.activation(self.widen(x))) + x.mean(-2, keepdim=True) * 1e-3",
    ),
    ("twice as wide", "4 * d_model if d_ff is None", "2 * d_model if d_ff is None"),
    ("a gated width too narrow", "8 * math.ceil(d_model / 3)", "8 * (d_model // 3)"),
    ("unknown activations let through", "if activation not in ACTIVATIONS:", "if False:"),
]
