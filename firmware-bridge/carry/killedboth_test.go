package carry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// roles are what this program is where TestKilledBoth asks for it: dir has all that
// outlives it, at is the broker's address.
var roles = map[string]func(dir, at, secret string) error{"node": killedNode, "bridge": killedBridge}

// known lets the device "pin" in by a hash.
type known string

func (k known) Lookup(name string) (string, bool) { return string(k), name == "pin" }

// identity is the journal's, from a text.
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

// killedNode is a node's intake, broker and journal. secret is the journal's seed, a space,
// and the hash of the device's password.
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

// killedBridge carries what a pendant has stored, of which pages.json has what it was not
// told to delete, over a radio that loses three packets in ten. secret is the password, a
// space, and the number that chance follows from. It ends when nothing is stored.
func killedBridge(dir, at, secret string) error {
	password, number, _ := strings.Cut(secret, " ")
	chance, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "pages.json")
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var pages []frame.Page
	if err := json.Unmarshal(b, &pages); err != nil {
		return err
	}
	p := limitless.PendantWith(pages)
	p.Deleted = func(_, to uint64) {
		for len(pages) > 0 && pages[0].Index < to {
			pages = pages[1:]
		}
		b, err := json.Marshal(pages)
		if err == nil {
			err = atomicfile.Write(file, b)
		}
		if err != nil {
			panic(err)
		}
	}
	state, s, _, c, err := begun(wear.Config{URL: "tcp://" + at, Password: password, MaxWait: 50 * time.Millisecond}, dir, func(err error) {
		if err != nil {
			panic(err)
		}
	})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	rep, err := carry.Run(context.Background(), carry.Config{
		Dialer: &link.Faulty{Dialer: p, Loss: .3, Reorder: true, Rand: rand.New(rand.NewPCG(chance, 1))}, Client: c, State: state,
		Family: limitless.Family, Options: carry.Options{Storage: true}, Spool: s, FirstWait: time.Millisecond})
	if err == nil && rep.Waiting+rep.Refused+rep.Dropped > 0 {
		err = fmt.Errorf("%+v", rep)
	}
	return err
}

// Bridge and node are killed again and again, together or one of them, while three packets
// in ten of the pendant are lost: each page that the pendant was told to delete is in the
// node's journal, once by its identity, and in the end that is all of them. KILLS has it go on for so many
// rounds, and KILLS_SEED is another course of chance.
func TestKilledBoth(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	kills, chance := number("KILLS", 4), number("KILLS_SEED", 1)
	dir := t.TempDir()
	seed := seal.NewKey()
	cred, hash, err := intake.NewDevice("pin")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	all := limitless.NewPendant(carry.Play{Amount: 40 * (kills + 1)}).Pages()
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pages.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	left := func() (pages []frame.Page) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "pages.json"))
		if err == nil {
			err = json.Unmarshal(b, &pages)
		}
		if err != nil {
			t.Fatal(err)
		}
		return pages
	}
	secrets := map[string]func(round int) string{
		"node":   func(int) string { return hex.EncodeToString(seed.Bytes()) + " " + hash },
		"bridge": func(round int) string { return fmt.Sprintf("%s %d", cred.Password, 1000*chance+round) },
	}
	runs := map[string]*exec.Cmd{}
	said := map[string]*bytes.Buffer{}
	begin := func(role string, round int) {
		t.Helper()
		if runs[role] != nil {
			return
		}
		cmd := exec.CommandContext(carrytest.Deadline(t), os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "KILLED_ROLE="+role, "KILLED_DIR="+dir, "KILLED_AT="+at, "KILLED_SECRET="+secrets[role](round))
		said[role] = &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = said[role], said[role]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		runs[role] = cmd
	}
	end := func(role string) {
		t.Helper()
		cmd := runs[role]
		delete(runs, role)
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		err := cmd.Wait()
		if err == nil && role == "bridge" && len(left()) == 0 {
			return // it was done at this very moment
		}
		if err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("the %s ended before it was killed, with %d pages left: %v\n%s", role, len(left()), err, said[role])
		}
	}
	dice := rand.New(rand.NewPCG(uint64(chance), 3))
	cut := 0 // rounds that ended while there was something to carry
	for round := range kills {
		begin("node", round)
		begin("bridge", round)
		// Pages go by many at once, when the first that is missing has come: so time decides, not progress.
		time.Sleep(time.Duration(100+dice.IntN(600)) * time.Millisecond) // a point by chance: it waits for nothing
		had := len(left())
		if had == 0 {
			break
		}
		cut++
		which := dice.IntN(3)
		if which != 0 {
			end("bridge")
		}
		if which != 1 {
			end("node")
		}
		t.Logf("round %d: %d pages left; killed %s", round, had, [...]string{"the node", "the bridge", "both"}[which])
	}
	if cut < kills/2 {
		t.Errorf("everything was carried after %d rounds of %d: the test needs more pages", cut, kills)
	}
	begin("node", kills)
	begin("bridge", kills)
	if err := runs["bridge"].Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said["bridge"])
	}
	if n := len(left()); n != 0 {
		t.Errorf("%d pages are left", n)
	}
	end("node")

	id := seal.IdentityFromSeed(seed)
	j, err := journal.Open(filepath.Join(dir, "journal"), id.Recipient(), journal.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r, err := j.Reader(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	heard, twice := map[string]map[memory.EventID]bool{}, 0
	for last := j.Stats().Last; ; {
		entry, err := r.Next(carrytest.Deadline(t))
		if err != nil {
			t.Fatal(err)
		}
		var e memory.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == memory.KindAudio {
			if heard[string(e.Data)] == nil {
				heard[string(e.Data)] = map[memory.EventID]bool{}
			}
			if heard[string(e.Data)][e.ID] {
				twice++ // before the extractor, which knows identities
			}
			heard[string(e.Data)][e.ID] = true
		}
		if entry.Seq >= last {
			break
		}
	}
	for _, p := range all {
		var want []byte
		for _, f := range p.Frames {
			want, _ = wire.AppendPacket(want, f)
		}
		if got := len(heard[string(want)]); len(want) > 0 && got != 1 {
			t.Errorf("page %d is there under %d identities", p.Index, got)
		}
	}
	t.Logf("%d pages over %d rounds; %d came again after a restart of the node", len(all), cut, twice)
}
