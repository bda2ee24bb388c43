MUTANTS = [
    ("any hash will do", "if digest.hexdigest() != sha256:", "if False:"),
    ("a branch taken", "len(revision) != 40 or", ""),
    (
        "only the first block hashed",
        "while block := file.read(1 << 20):",
        "if block := file.read(1 << 20):",
    ),
    ("the revision not asked for", '"revision": revision, "allow', '"revision": None, "allow'),
    ("no words about the network", "raise ConnectionError(", "raise OSError("),
]
