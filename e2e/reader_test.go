package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// python runs reader/, which was written from the documents only. Debian's own interpreter has the
// modules that it needs; another one in the PATH may not.
func python(t *testing.T, input string, args ...string) []byte {
	t.Helper()
	out, errs, err := tryPython(t, input, args...)
	if err != nil {
		t.Fatalf("reader.py %s: %v\n%s", strings.Join(args, " "), err, errs)
	}
	return out
}

func tryPython(t *testing.T, input string, args ...string) ([]byte, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "/usr/bin/python3", append([]string{filepath.Join("reader", "reader.py")}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	return out.Bytes(), errs.String(), err
}

// A second implementation accepts every valid vector, and refuses every other one for the given
// reason.
func TestReaderChecksTheVectors(t *testing.T) {
	var n map[string]int
	mustParse(t, string(python(t, "", "vectors", "..")), &n)
	for _, what := range []string{"envelope", "body", "blob", "refused", "checkpoints", "snapshot", "fold", "worker", "restore", "phrase", "pairing", "requests", "lan", "heads", "welcomes", "blobs", "bits", "ml_kem_768", "recipient"} {
		if n[what] == 0 {
			t.Errorf("no vector of %s was checked: %v", what, n)
		}
	}
	t.Log(n)
}

// read is what the reader reports about a space.
type read struct {
	Entries, Deltas, Bodies, Ops int
	Epochs                       []uint32
	Members                      []struct {
		ID       memory.MemberID
		Role     int
		Name     string
		Platform string
		Removed  bool
	}
	Memories          map[string]told
	Utterances, Blobs map[string]string
	Withheld          []string // bodies that are missing without a reason
	Problems          []string // invalid snapshots
	Assertions        []json.RawMessage
	Snapshot          *struct { // the one that was used, if any
		Cursor   uint64
		Standing string
	}
}

// told is the reader's result for what was said about a memory.
type told struct {
	Text        string
	Sensitivity memory.Sensitivity
	Pinned      bool
	Tags        []string
}

// reads returns the space of a phrase, from only the phrase and the relay.
func (r *relay) reads(phrase string) read {
	r.t.Helper()
	return readFrom(r.t, phrase, r.url)
}

func readFrom(t *testing.T, phrase, from string) (space read) {
	t.Helper()
	mustParse(t, string(python(t, phrase, "space", from)), &space)
	return space
}

// initPhrase makes a home with a relay, and returns its 24 words.
func initPhrase(t *testing.T, dir, url string, flags ...string) (*home, string) {
	t.Helper()
	h := &home{t: t, dir: filepath.Join(t.TempDir(), dir), run: []string{"--set", "sync.relay=" + url}}
	h.configure()
	conf, err := os.OpenFile(filepath.Join(h.dir, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conf.WriteString("[sync]\nrelay = \"" + url + "\"\n")
	if err := errors.Join(err, conf.Close()); err != nil {
		t.Fatal(err)
	}
	var made struct {
		Phrase []string `json:"recovery_phrase"`
	}
	h.mustJSON(&made, append([]string{"init", "--key-file", "--no-check"}, flags...)...)
	if len(made.Phrase) != 24 {
		t.Fatalf("init gave %d words", len(made.Phrase))
	}
	return h, strings.Join(made.Phrase, " ")
}

// holds compares what is said about all of a home's memories with the reader's.
func (space *read) holds(h *home) {
	h.t.Helper()
	have := map[string]told{}
	for line := range strings.Lines(h.must("--json", "list", "--state", "all")) {
		var m memory.Memory
		mustParse(h.t, line, &m)
		have[m.ID.String()] = told{m.Text, m.Sensitivity, m.Pinned, append([]string{}, m.Tags...)}
	}
	if len(space.Withheld) > 0 {
		h.t.Errorf("the reader misses bodies of which nobody said that they were taken away: %v", space.Withheld)
	}
	if !reflect.DeepEqual(have, space.Memories) {
		h.t.Errorf("the home holds\n%s\nthe reader found\n%s", listed(have), listed(space.Memories))
	}
}

func listed(all map[string]told) string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s %+v\n", id, all[id])
	}
	return b.String()
}

// remember adds a text unchanged, and returns its memory's id.
func (h *home) remember(text string) string {
	h.t.Helper()
	var added serve.AddResult
	h.mustJSON(&added, "add", "--plain", text)
	if len(added.Changes) != 1 {
		h.t.Fatalf("add %q: %d changes", text, len(added.Changes))
	}
	return added.Changes[0].Memory.String()
}

// ask runs a command with input.
func (h *home) ask(input string, args ...string) string {
	h.t.Helper()
	out, err := h.tryAsk(input, args...)
	if err != nil {
		h.t.Fatalf("locket %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// tryAsk returns its output, and after an error also its error output.
func (h *home) tryAsk(input string, args ...string) (string, error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "locket"), append([]string{"--home", h.dir}, args...)...)
	cmd.Env = append(os.Environ(), h.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String() + errs.String(), err
	}
	return out.String(), nil
}

// otherDevice returns the member that is not this device, if there is one.
func (h *home) otherDevice() (id memory.MemberID) {
	h.t.Helper()
	for _, id = range h.otherDevices() {
	}
	return id
}

// otherDevices returns the members that are not this device.
func (h *home) otherDevices() (ids []memory.MemberID) {
	h.t.Helper()
	for line := range strings.Lines(h.must("--json", "devices")) {
		var m serve.Member
		mustParse(h.t, line, &m)
		if !m.Here {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// synced makes a home send what it has, and receive what is there.
func (h *home) synced() {
	h.t.Helper()
	h.must("sync", "--now")
}

// The phrase and the relay's address are all that another implementation needs to read everything
// that was synced, and nothing that was forgotten: across two epochs, from two devices, with a
// photo.
func TestReaderOpensASpaceFromItsPhrase(t *testing.T) {
	r := newRelay(t)
	glasses, phrase := initPhrase(t, "glasses", r.url)
	glasses.start()
	moved, dentist := glasses.remember("I moved to Suzhou last week."), glasses.remember("My dentist is Dr. Wu.")
	debt := glasses.remember("I owe Bo 40 euros.")
	glasses.must("replay", filepath.Join("..", "testdata", "day", "note.png"))
	phone := glasses.letIn("phone")
	phone.synced()
	phone.remember("The bike's lock is the blue one.")
	phone.synced()
	glasses.synced()
	glasses.must("pin", moved)
	glasses.must("update", dentist, "--text", "My dentist is Dr. Wang.")
	glasses.synced()

	space := r.reads(phrase)
	space.holds(glasses)
	if space.Memories[debt].Text == "" || space.Memories[dentist].Text != "My dentist is Dr. Wang." || !space.Memories[moved].Pinned {
		t.Errorf("before anything is erased:\n%s", listed(space.Memories))
	}
	if len(space.Members) != 2 {
		t.Errorf("members are %v", space.Members)
	}
	note, err := os.ReadFile(filepath.Join("..", "testdata", "day", "note.png"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(note)
	if !slices.Contains(slices.Collect(maps.Values(space.Blobs)), hex.EncodeToString(sum[:])) {
		t.Errorf("of the photo there is %v", space.Blobs)
	}

	lost := glasses.otherDevice()
	glasses.must("delete", debt, "--yes")
	glasses.ask(phrase+"\n", "devices", "remove", lost.String())
	after := glasses.remember("The new key is under the flower pot.")
	glasses.synced()
	space = r.reads(phrase)
	space.holds(glasses)
	if !slices.Equal(space.Epochs, []uint32{1, 2}) || space.Memories[after].Text == "" || space.Memories[debt].Text != "" {
		t.Errorf("after a removal: epochs %v, memories\n%s", space.Epochs, listed(space.Memories))
	}
	stick := t.TempDir()
	glasses.must("sync", "--folder", stick)
	carried := readFrom(t, phrase, stick)
	carried.holdsAll(glasses)
	if len(carried.Problems) > 0 || carried.Snapshot != nil {
		t.Errorf("from a folder: %v", carried.Problems)
	}
	for _, m := range space.Members {
		if m.Removed != (m.ID == lost) || m.Platform != runtime.GOOS+"/"+runtime.GOARCH {
			t.Errorf("member: %+v", m)
		}
	}
	other := strings.Repeat("abandon ", 23) + "art"
	if out, errs, err := tryPython(t, other, "space", r.url); err == nil || !strings.Contains(errs, "403") {
		t.Errorf("another phrase: %v: %s%s", err, out, errs)
	}
}

// The same with 24 Chinese words.
func TestReaderOpensASpaceFromChineseWords(t *testing.T) {
	r := newRelay(t)
	h, phrase := initPhrase(t, "home", r.url, "--words", "zh")
	h.remember("我上周搬到了苏州。")
	h.synced()
	space := r.reads(phrase)
	space.holds(h)
	if len(space.Memories) != 1 {
		t.Errorf("%d memories", len(space.Memories))
	}
}
