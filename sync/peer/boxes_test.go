package peer

import (
	"context"
	"testing"
	"time"

	"github.com/locket-dev/locket/sync/remote"
)

// Somebody who fills all mailboxes of a device can't prevent it from adding a new device, before or
// after its person begins.
func TestMailboxesFilledByStrangers(t *testing.T) {
	h := serve(t)
	r, err := remote.New(h.url, remote.Option{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	boxes, first, second := h.server.Boxes(), [16]byte{7}, [16]byte{8}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := boxes.Message(stopped, first, 0); err != context.Canceled {
		t.Fatal(err)
	}
	refused := 0
	for n := range 2 * maxBoxes {
		id := [16]byte{9, byte(n >> 8), byte(n)}
		if n%2 == 0 {
			_, _ = r.Message(t.Context(), id, 0, 0)
		}
		if _, err := r.Post(t.Context(), id, []byte("x")); err != nil {
			refused++
		}
	}
	if refused != maxBoxes || len(boxes.all) != maxBoxes+1 {
		t.Errorf("%d were refused, %d are there", refused, len(boxes.all))
	}
	for _, id := range [][16]byte{first, second} {
		if _, err := boxes.Message(stopped, id, 0); err != context.Canceled { // the device's own side waits
			t.Fatal(err)
		}
		if _, err := r.Post(t.Context(), id, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if m, err := boxes.Message(t.Context(), id, 0); err != nil || string(m) != "hello" {
			t.Errorf("%q, %v", m, err)
		}
		if err := boxes.Post(t.Context(), id, []byte("hello to you")); err != nil {
			t.Fatal(err)
		}
		if m, err := r.Message(t.Context(), id, 1, time.Second); err != nil || string(m) != "hello to you" {
			t.Errorf("%q, %v", m, err)
		}
	}
}
