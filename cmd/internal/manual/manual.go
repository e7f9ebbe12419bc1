// Package manual adds a command that writes a program's man pages. The command exists only in
// builds with the tag manual, which a release makes for its own use. Binaries that ship lack it.
package manual
