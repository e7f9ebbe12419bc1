package e2e

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/node/serve"
)

// pairsWithReader makes the second implementation join with an invitation's code, and returns its
// side of the dialogue, and the home's, with the words that both show.
func (h *home) pairsWithReader() (reader, asks *talk) {
	h.t.Helper()
	var invite, here, there serve.Pairing
	asks = h.talk("pair")
	asks.hear(&invite)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	h.t.Cleanup(cancel)
	reader = &talk{t: h.t, args: "(reader.py) pair", errs: new(logbook.Book),
		cmd: exec.CommandContext(ctx, "/usr/bin/python3", filepath.Join("reader", "reader.py"), "pair", invite.Link)}
	reader.cmd.Stderr = reader.errs
	out, err := reader.cmd.StdoutPipe()
	if err == nil {
		reader.in, err = reader.cmd.StdinPipe()
	}
	if err == nil {
		err = reader.cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	reader.out = bufio.NewReader(out)
	asks.hear(&here)
	reader.hear(&there)
	if len(here.Words) != 5 || !slices.Equal(here.Words, there.Words) {
		h.t.Fatalf("the words are %v here and %v there", here.Words, there.Words)
	}
	return reader, asks
}

// Another implementation, written from the documents only, is let in as a new device, and reads the
// space with its keys as a member. It is told if a person refuses it.
func TestReaderPairsAsANewDevice(t *testing.T) {
	r := newRelay(t)
	h, _ := initPhrase(t, "glasses", r.url)
	h.start()
	h.remember("I moved to Suzhou last week.")
	h.must("replay", filepath.Join("..", "testdata", "day", "note.png"))
	h.must("rotate")
	h.remember("The key is under the mat.")
	h.synced()

	reader, asks := h.pairsWithReader()
	asks.answer("yes")
	reader.answer("yes")
	var done serve.Pairing
	asks.hear(&done)
	asks.end()
	if done.State != serve.PairDone {
		t.Fatalf("%+v", done)
	}
	var space read
	reader.hear(&space)
	reader.end()
	space.holdsAll(h)
	named := 0
	for _, m := range space.Members {
		if m.Name == "a second implementation" && m.Role == 1 {
			named++
		}
	}
	if named != 1 || len(space.Members) != 2 || len(space.Epochs) != 2 || len(space.Blobs) != 1 {
		t.Errorf("members %+v, epochs %v, photos %v", space.Members, space.Epochs, space.Blobs)
	}

	reader, asks = h.pairsWithReader()
	asks.answer("no")
	reader.answer("yes")
	rest, err := io.ReadAll(reader.out)
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.cmd.Wait(); err == nil || !strings.HasPrefix(reader.errs.String(), "refused: ") {
		t.Errorf("a person said no: %v: %s%s", err, rest, reader.errs)
	}
	asks.cmd.Wait() // it says that it was refused
	if n := len(h.otherDevices()); n != 1 {
		t.Errorf("%d other devices", n)
	}
}
