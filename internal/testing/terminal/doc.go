// Package terminal gives tests a terminal, on Linux only.
package terminal
