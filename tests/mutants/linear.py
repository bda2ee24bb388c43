MUTANTS = [
    ("NaN where nothing is read", "x / total.masked_fill(total == 0, 1.0)", "x / total"),
    ("elu without its 1", "F.elu(x) + 1", "F.elu(x)"),
    ("past forgotten", "o = q_i @ past", "o = 0 * q_i @ past"),
    ("future visible in a block", "(q_i @ k_i.mT).tril()", "(q_i @ k_i.mT)"),
    ("past not carried on", "past = past + k_i.mT @ v_i", "past = k_i.mT @ v_i"),
    ("words before the queries lost", "before = S - T if causal", "before = 0 if causal"),
    ("last block of keys only", "past = past + k_j.mT @ v_j", "past = k_j.mT @ v_j"),
    ("padding read", "phi * mask[..., words, :]", "phi"),
    ("sums in half precision", "torch.promote_types(v.dtype, torch.float32), q", "v.dtype, q"),
]
