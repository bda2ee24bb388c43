MUTANTS = [
    ("no tanh", "return torch.tanh(x @ w_x.T + h @ w_h.T + b)", "return x @ w_x.T + h @ w_h.T + b"),
    ("the state forgotten", "torch.tanh(x @ w_x.T + h @ w_h.T + b)", "torch.tanh(x @ w_x.T + b)"),
    ("recurrent matrix transposed", "torch.tanh(x @ w_x.T + h @ w_h.T", "torch.tanh(x @ w_x.T + h @ w_h"),
    ("gates in another order", "i, f, g, o = (x", "f, i, g, o = (x"),
    ("the cell not kept", "c = f.sigmoid() * c + i", "c = c + i"),
    ("output without tanh", "o.sigmoid() * c.tanh(), c", "o.sigmoid() * c, c"),
    ("forget bias in the wrong gate", "self.b[d_hidden : 2 * d_hidden]", "self.b[:d_hidden]"),
    ("read backwards", "for x_t in x.unbind(1):", "for x_t in x.flip(1).unbind(1):"),
    ("the given state ignored", "* n if state is None else", "* n if True else"),
    ("layers' states not handed on", "last.append(state)", "last.append(None)"),
    ("start spread too wide", "bound = 1 / math.sqrt(d_hidden)", "bound = 1.0"),
]
