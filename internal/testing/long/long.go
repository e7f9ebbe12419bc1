// Package long has tests go on for longer than CI has time for.
package long

import (
	"os"
	"strconv"
	"testing"
)

// Kills is how often a test kills a process: KILLS of the environment, or else the number that CI has time for.
func Kills(t testing.TB, otherwise int) int {
	t.Helper()
	text := os.Getenv("KILLS")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("KILLS=%q: want a number above 0", text)
	}
	return n
}
