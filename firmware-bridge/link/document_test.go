package link_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/link"
)

// The example in the document is a valid capture.
func TestDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/devices.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "```jsonl\n")
	example, _, _ := strings.Cut(rest, "```")
	got, err := transcript(t, link.NewCapture(strings.NewReader(example)), func(d link.Device) {
		if b, err := d.Read(deadline(t), codecChar); err != nil || len(b) != 1 || b[0] != 0x15 {
			t.Errorf("codec % x, %v", b, err)
		}
	})
	if want := []string{"connect 247", "19b10001 000000b80102", "19b10001 010000b80304", "end"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
