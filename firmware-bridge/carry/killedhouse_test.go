package carry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
)

// roles are what this test program does if a house starts it: dir holds everything that outlives
// it, at is the broker's address.
var roles = map[string]func(dir, at, secret string) error{"node": killedNode, "bridge": killedBridge, "live": killedLive}

// known authenticates the device "pin" by a hash.
type known string

func (k known) Lookup(name string) (string, bool) { return string(k), name == "pin" }

// identity makes the journal's identity from a text.
func identity(text string) (*seal.Identity, error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, err
	}
	key, err := seal.KeyFromBytes(b)
	if err != nil {
		return nil, err
	}
	return seal.IdentityFromSeed(key), nil
}

// killedNode runs a node's intake, broker and journal. secret is the journal's seed, a space, and
// the hash of the device's password.
func killedNode(dir, at, secret string) error {
	seed, hash, _ := strings.Cut(secret, " ")
	id, err := identity(seed)
	if err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(dir, "journal"), id.Recipient(), journal.Options{Reserve: -1})
	if err != nil {
		return err
	}
	in := intake.New(intake.Config{Journal: onto{j}, SealTo: id.Recipient().String()})
	if _, err := intake.Listen(in, intake.BrokerConfig{Addr: at, Devices: known(hash)}); err != nil {
		return err
	}
	fmt.Println("ready")
	select {} // until it is killed
}

// onto writes events into a journal.
type onto struct{ j *journal.Journal }

func (o onto) Append(ctx context.Context, events []memory.Event) error {
	var entries [][]byte
	for i := range events {
		b, err := json.Marshal(&events[i])
		if err != nil {
			return err
		}
		entries = append(entries, b)
	}
	_, err := o.j.Append(ctx, entries...)
	return err
}

// house is a folder with a node and a bridge; these are processes that a test kills.
type house struct {
	dir, at  string // at is the broker's address
	password string // password of the device "pin"
	hash     string // hash of the password
	seed     *seal.Key
}

func newHouse(t *testing.T) *house {
	t.Helper()
	cred, hash, err := intake.NewDevice("pin")
	if err != nil {
		t.Fatal(err)
	}
	return &house{dir: t.TempDir(), at: freeport.Addr(t), password: string(cred.Password), hash: hash, seed: seal.NewKey()}
}

// running is a process of a house.
type running struct {
	cmd  *exec.Cmd
	said bytes.Buffer // what it wrote to stderr, and to stdout unless somebody reads that
}

// node starts the node, and copies its output to out.
func (h *house) node(t *testing.T, out io.Writer) *running {
	t.Helper()
	return h.run(t, "node", hex.EncodeToString(h.seed.Bytes())+" "+h.hash, out)
}

// run starts a process in a role. Its standard output goes to out; nil: to said.
func (h *house) run(t *testing.T, role, secret string, out io.Writer) *running {
	t.Helper()
	r := &running{cmd: exec.CommandContext(carrytest.Deadline(t), os.Args[0], "-test.run=^$")}
	r.cmd.Env = append(os.Environ(), "KILLED_ROLE="+role, "KILLED_DIR="+h.dir, "KILLED_AT="+h.at, "KILLED_SECRET="+secret)
	if r.cmd.Stdout, r.cmd.Stderr = out, &r.said; out == nil {
		r.cmd.Stdout = &r.said
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// kill ends the process by SIGKILL, and reports whether it had ended by itself before.
func (r *running) kill(t *testing.T) (ended bool, err error) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err = r.cmd.Wait()
	return r.cmd.ProcessState.Exited(), err
}

// number reads a number from the environment: how many rounds a test runs, or another seed.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// ended is in the text of a gap if a bridge was killed.
const ended = "ended before it could report"

// each calls do with the events in the node's journal, as the extractor sees them. An event that
// came again after a restart of the node occurs twice; the extractor knows identities.
func (h *house) each(t *testing.T, do func(e *memory.Event)) {
	t.Helper()
	id := seal.IdentityFromSeed(h.seed)
	j, err := journal.Open(filepath.Join(h.dir, "journal"), id.Recipient(), journal.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r, err := j.Reader(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for last := j.Stats().Last; ; {
		entry, err := r.Next(carrytest.Deadline(t))
		if err != nil {
			t.Fatal(err)
		}
		var e memory.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			t.Fatal(err)
		}
		e = opened(t, id, e)
		do(&e)
		if entry.Seq >= last {
			return
		}
	}
}

// firstBoot returns the boot of the bridge's first start, given the number of rounds. The last
// start belongs to no round.
func (h *house) firstBoot(t *testing.T, rounds int) uint64 {
	t.Helper()
	var last uint64
	state, err := carry.OpenState(filepath.Join(h.dir, "state.json"))
	if err == nil {
		err = state.Part("boot", &last)
	}
	if err != nil {
		t.Fatal(err)
	}
	return last - uint64(rounds)
}

// runs reports whether the last bridge had begun to carry, and did not end cleanly.
func (h *house) runs(t *testing.T) (runs bool) {
	t.Helper()
	state, err := carry.OpenState(filepath.Join(h.dir, "state.json"))
	if err == nil {
		err = state.Part("runs", &runs)
	}
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// once is like each, with every event once, by its identity.
func (h *house) once(t *testing.T, do func(e *memory.Event)) {
	t.Helper()
	seen := map[memory.EventID]bool{}
	h.each(t, func(e *memory.Event) {
		if !seen[e.ID] {
			seen[e.ID] = true
			do(e)
		}
	})
}

// opened returns an event as the extractor sees it.
func opened(t *testing.T, id *seal.Identity, e memory.Event) memory.Event {
	t.Helper()
	if e.Kind != memory.KindSealed {
		return e
	}
	b, err := seal.OpenWith(id, e.Data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := wire.Unwrap(b)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Event(e.ID.Device, m, e.Received, nil)
}
