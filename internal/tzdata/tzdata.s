// With a file in assembly, the compiler takes a function without a body.
