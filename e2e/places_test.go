package e2e

import (
	"maps"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/node/serve"
)

// A wearer moves from one relay to another, with real processes: the first is killed while there
// are two, then the second. The content of a stick reaches a device without any relay.
func TestMoveBetweenRelays(t *testing.T) {
	first, second := newRelay(t), newRelay(t)
	glasses := newHome(t, "--listen", freeport.Addr(t), "--set", "sync.relay="+first.url)
	glasses.start()
	phone := glasses.letIn("phone")
	phone.start()
	for _, h := range []*home{glasses, phone} {
		var added serve.Relay
		for line := range strings.Lines(h.must("--json", "relay", "add", second.url)) {
			mustParse(t, line, &added)
		}
		if added.URL != second.url || added.Kind != serve.RelayMirror {
			t.Fatalf("%+v", added)
		}
	}
	first.kill()
	glasses.must("add", "--plain", "The key is under the mat")
	phone.must("add", "--plain", "The plums are ripe")
	whole := func(have map[string]bool) bool { return len(have) == 2 }
	have := converge(t, glasses, phone, whole)
	for _, h := range []*home{glasses, phone} {
		h.must("relay", "move", second.url)
		h.must("relay", "remove", first.url)
		if list := h.must("relay", "list"); strings.Contains(list, first.url) || !strings.HasPrefix(list, "first") {
			t.Errorf("%s", list)
		}
	}
	glasses.must("sync", "--now")
	second.kill()
	if out, _, code := glasses.try("sync", "--now"); code != 1 || !strings.Contains(out, second.url) {
		t.Errorf("no relay is there: code %d, %s", code, out)
	}
	stick := t.TempDir()
	glasses.must("add", "--plain", "Tom has a red bicycle")
	glasses.must("sync", "--folder", stick)
	if out := phone.must("sync", "--folder", stick); !strings.HasPrefix(out, "Read ") {
		t.Errorf("%s", out)
	}
	if after := phone.holdings(); len(after) != len(have)+1 || maps.Equal(after, have) {
		t.Errorf("%d records by the stick, want %d", len(after), len(have)+1)
	}
}
