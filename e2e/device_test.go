package e2e

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// credentials is the output of locket wearable add.
type credentials struct {
	Name     string `json:"name"`
	Broker   string `json:"broker"`
	Password string `json:"password"`
}

func (h *home) addDevice(name string) credentials {
	h.t.Helper()
	var c credentials
	h.mustJSON(&c, "device", "add", name)
	return c
}

// wearable connects a device to a broker, which may be away.
func wearable(t *testing.T, url, name, password string) *wear.Client {
	t.Helper()
	c, err := wear.Dial(wear.Config{URL: url, Device: name, Password: password, Hello: wire.Hello{Model: "test", Firmware: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// say publishes one line and returns its receipt.
func say(t *testing.T, c *wear.Client, speaker, text string) *wear.Receipt {
	t.Helper()
	r, err := c.Publish(t.Context(), &wire.Words{Speaker: speaker, Text: text})
	if err != nil {
		t.Fatalf("publish: %v", errors.Join(err, c.Err()))
	}
	return r
}

// talking makes a device say one sentence after another, until quiet is called, which returns all
// receipts.
func talking(t *testing.T, c *wear.Client, pause time.Duration) (quiet func() []*wear.Receipt) {
	stop := make(chan struct{})
	said := make(chan []*wear.Receipt, 1)
	go func() {
		var rs []*wear.Receipt
		defer func() { said <- rs }()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			r, err := c.Publish(t.Context(), words(i))
			if err != nil {
				if t.Context().Err() == nil {
					t.Errorf("publish %d: %v", i, err)
				}
				return
			}
			rs = append(rs, r)
			wait(pause)
		}
	}()
	quiet = sync.OnceValue(func() []*wear.Receipt {
		close(stop)
		return <-said
	})
	t.Cleanup(func() { quiet() }) // before the device's own, if the test ends early
	return quiet
}

func acknowledged(t *testing.T, rs ...*wear.Receipt) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, r := range rs {
		if err := r.Wait(ctx); err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
	}
}

// utterances returns the home's utterances by event. An event with two is an error.
func (h *home) utterances() map[memory.EventID]string {
	h.t.Helper()
	out := map[memory.EventID]string{}
	for event, texts := range h.pieces() {
		if len(texts) > 1 {
			h.t.Errorf("event %s has two utterances", event)
		}
		out[event] = texts[len(texts)-1]
	}
	return out
}

// pieces returns the utterances of each event; a recording has one for each piece.
func (h *home) pieces() map[memory.EventID][]string {
	h.t.Helper()
	out := map[memory.EventID][]string{}
	for line := range strings.Lines(h.must("export")) {
		var r record
		mustParse(h.t, line, &r)
		if r.Kind == "utterance" {
			var u memory.Utterance
			mustParse(h.t, string(r.Data), &u)
			out[u.Event] = append(out[u.Event], u.Text)
		}
	}
	return out
}

// sentence makes words that occur in no rule and no other sentence.
func sentence(i int) string {
	return fmt.Sprintf("The lighthouse keeper of island number %d counted %d gulls on a %s morning.", i, 3*i+7, []string{"grey", "windy", "clear", "cold"}[i%4])
}

// filesHold reports which files under dir contain any of the words, raw or, at the beginning of an
// index segment, inflated.
func filesHold(t *testing.T, dir string, words []string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		plain := b
		for rest := b; ; {
			_, after, ok := bytes.Cut(rest, []byte("LKR3"))
			if !ok {
				break
			}
			segment, _ := io.ReadAll(flate.NewReader(bytes.NewReader(after))) // anything else ends with an error
			plain, rest = append(plain, segment...), after
		}
		s := strings.ToLower(string(plain))
		for _, w := range words {
			if strings.Contains(s, strings.ToLower(w)) {
				found = append(found, filepath.Base(path)+" holds "+w)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
