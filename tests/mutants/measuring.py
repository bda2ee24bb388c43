MUTANTS = [
    ("peak never falls", "self.now -= n_bytes", "pass"),
    ("last instead of peak", "max(self.peak, self.now)", "self.now"),
    ("views counted", "in given | self.alive", "in self.alive"),
    ("slowest call", "Measurement(min(seconds)", "Measurement(max(seconds)"),
    ("exponent upside down", "np.log(sizes), np.log(amounts)", "np.log(amounts), np.log(sizes)"),
    ("offset for slope", "1)[0])", "1)[1])"),
]
