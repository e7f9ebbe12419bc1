// Package golden compares a test's output with a stored file.
package golden

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// JSON fails the test unless the file at path is the JSON of made, byte for byte. It reads the file
// into held, if that is not nil. With write, it writes the file first.
func JSON(t *testing.T, path string, made, held any, write bool) {
	t.Helper()
	b, err := json.MarshalIndent(made, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if write {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, b) {
		t.Errorf("%s: what is made today is not what was written", path)
	}
	if held == nil {
		return
	}
	if err := json.Unmarshal(file, held); err != nil {
		t.Fatal(err)
	}
}
