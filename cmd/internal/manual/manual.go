// Package manual has a command write its own man pages. Binaries that ship do
// not have it: it is there in a build with the tag manual, which a release makes
// for itself.
package manual
