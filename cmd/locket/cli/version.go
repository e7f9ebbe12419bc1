package cli

import "github.com/locket-dev/locket/internal/version"

// Linked is what the linker set, as main has it. What is empty is taken from what Go itself
// notes of a checkout.
var Linked struct {
	Release, Commit, BuiltAt string
	Key                      string // by which releases are signed, as minisign writes it
}

// ThisBuild returns the version of this program.
func ThisBuild() version.Build { return version.Of(Linked.Release, Linked.Commit, Linked.BuiltAt) }
