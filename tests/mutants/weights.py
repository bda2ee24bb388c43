MUTANTS = [
    ("parts in the other order", "torch.cat(parts)", "torch.cat(parts[::-1])"),
    ("nothing turned", "return tensor.t()", "return tensor"),
    ("left-overs accepted", "elif not any(fnmatch", "elif False and not any(fnmatch"),
    ("nothing may be ignored", "fnmatchcase(name, pattern) for", "False for"),
    ("copies not compared", "if not torch.equal(given[name]", "if False and not torch.equal(given[name]"),
    ("the first digit of a layer only", 're.search(r"\\d+"', 're.search(r"\\d"'),
    ("ties broken", "if id(old) in made:  #", "if False:  #"),
    (
        "shapes not compared",
        "if any((rows, *part.shape[1:]) != old.shape for part in parts):",
        "if False:",
    ),
    ("numbers left in half size", ".to(dtype), requires", ", requires"),
    ("the prefix kept", "name.removeprefix(family.prefix): tensor", "name: tensor"),
    (
        "scale and shift swapped",
        '{"scale": "weight", "shift": "bias"}',
        '{"shift": "weight", "scale": "bias"}',
    ),
]
