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
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	"github.com/locket-dev/locket/firmware-bridge/carry/owntracks"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	omiframe "github.com/locket-dev/locket/firmware-bridge/frame/omi"
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
var roles = map[string]func(dir, at, secret string) error{"node": killedNode, "bridge": killedBridge, "live": killedLive}

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

// stock is what a device has stored, in a file of its own that outlives the bridge.
type stock struct {
	First uint64   `json:"first"` // number of the first item
	Items [][]byte `json:"items"`
}

func readStock(dir string) (s stock, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "stock.json"))
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

func (s *stock) write(dir string) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "stock.json"), b)
}

// stocked is a family whose devices keep something until they are told to forget it.
type stocked struct {
	family carry.Family
	loss   float64 // of what the device sends, part
	loops  int     // items for each kill
	make   func(n int) stock
	device func(s stock, gone func(stock)) link.Dialer // which calls gone with what is left
	holds  func(item []byte) []string                  // of an item, what is to be in the node once each
	said   func(e *memory.Event) []string              // of an event, the same
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func heardIn(e *memory.Event) (out []string) {
	if e.Kind != memory.KindAudio {
		return nil
	}
	list, err := wire.Packets(e.Data)
	must(err)
	for _, p := range list {
		out = append(out, string(p))
	}
	return out
}

var allStocked = map[string]stocked{
	"limitless": {
		family: limitless.Family, loss: .3, loops: 40,
		make: func(n int) (s stock) {
			for _, p := range limitless.NewPendant(carry.Play{Amount: n}).Pages() {
				b, err := json.Marshal(p)
				must(err)
				s.Items = append(s.Items, b)
			}
			return s
		},
		device: func(s stock, gone func(stock)) link.Dialer {
			var pages []frame.Page
			for _, b := range s.Items {
				var p frame.Page
				must(json.Unmarshal(b, &p))
				pages = append(pages, p)
			}
			d := limitless.PendantWith(pages)
			d.Deleted = func(from, to uint64) {
				s.Items = s.Items[to-from:]
				gone(s)
			}
			return d
		},
		holds: func(b []byte) (out []string) {
			var p frame.Page
			must(json.Unmarshal(b, &p))
			for _, f := range p.Frames {
				out = append(out, string(f))
			}
			return out
		},
		said: heardIn,
	},
	// Any loss spoils a transfer, which is over a thousand notifications: with more of it the bridge is killed before
	// the first is whole. The radio itself repeats what is lost. TestSimulatedStorage has a worse one.
	"omi": {
		family: omi.Family, loss: .001, loops: 400,
		make: func(n int) stock { return stock{Items: omi.NewPendant(carry.Play{Amount: n}).Records()} },
		device: func(s stock, gone func(stock)) link.Dialer {
			d := omi.PendantWith(s.Items, s.First)
			d.Gone = func(records [][]byte) {
				s.Items, s.First = s.Items[len(records):], s.First+uint64(len(records))
				gone(s)
			}
			return d
		},
		holds: func(b []byte) (out []string) {
			for _, f := range omiframe.LegacyFrames(b[4:]) {
				out = append(out, string(f))
			}
			return out
		},
		said: heardIn,
	},
	// A broker brings again what is not acknowledged.
	"owntracks": {
		family: owntracks.Family, loss: .3, loops: 60,
		make: func(n int) (s stock) {
			for i := range n {
				s.Items = append(s.Items, fmt.Appendf(nil, `{"_type":"location","lat":%.6f,"lon":13.4,"acc":5,"tst":%d}`, 52+float64(i)/10000, 1773489600+60*i))
			}
			return s
		},
		device: func(s stock, gone func(stock)) link.Dialer {
			q := &link.Queue{Gone: func(n link.Notification) {
				i := slices.IndexFunc(s.Items, func(b []byte) bool { return bytes.Equal(b, n.Data) })
				s.Items = slices.Delete(s.Items, i, i+1)
				gone(s)
			}}
			for _, b := range s.Items {
				q.Messages = append(q.Messages, link.Notification{Char: "owntracks/jane/phone", Data: b})
			}
			return q
		},
		holds: func(b []byte) []string {
			var m struct{ Lat float64 }
			must(json.Unmarshal(b, &m))
			return []string{fmt.Sprint(m.Lat)}
		},
		said: func(e *memory.Event) []string {
			if e.Kind != memory.KindLocation {
				return nil
			}
			return []string{fmt.Sprint(e.Place.Lat)}
		},
	},
}

// killedBridge carries what a device has stored, of which stock.json has what it was not told to
// delete, over a link that loses some of what it sends. secret is the password, the number that
// chance follows from, and the family. It ends when nothing is stored.
func killedBridge(dir, at, secret string) error {
	var password, name string
	var chance uint64
	if _, err := fmt.Sscan(secret, &password, &chance, &name); err != nil {
		return err
	}
	k := allStocked[name]
	all, err := readStock(dir)
	if err != nil {
		return err
	}
	d := k.device(all, func(s stock) { must(s.write(dir)) })
	state, s, _, c, err := begun(wear.Config{URL: "tcp://" + at, Password: password, MaxWait: 50 * time.Millisecond}, dir, must)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	rep, err := carry.Run(context.Background(), carry.Config{
		Dialer: &link.Faulty{Dialer: d, Loss: k.loss, Reorder: k.loss > .1, Rand: rand.New(rand.NewPCG(chance, 1))}, Client: c, State: state,
		Family: k.family, Options: carry.Options{Storage: true, Device: "jane/phone", Prefix: k.family.Prefix}, Spool: s, FirstWait: time.Millisecond})
	if err == nil && rep.Waiting+rep.Refused+rep.Dropped > 0 {
		err = fmt.Errorf("%+v", rep)
	}
	return err
}

// Bridge and node are killed again and again, together or one of them, while a part of what the
// device sends is lost: each thing that the device was told to delete is in the
// node's journal, once by its identity, and in the end that is all of them. KILLS has it go on for so many
// rounds, and KILLS_SEED is another course of chance.
func TestKilledBoth(t *testing.T) {
	for name := range allStocked {
		t.Run(name, func(t *testing.T) { killBoth(t, name) })
	}
}

func killBoth(t *testing.T, name string) {
	k := allStocked[name]
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
	all := k.make(k.loops * (kills + 1))
	if err := all.write(dir); err != nil {
		t.Fatal(err)
	}
	left := func() [][]byte {
		t.Helper()
		s, err := readStock(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s.Items
	}
	secrets := map[string]func(round int) string{
		"node":   func(int) string { return hex.EncodeToString(seed.Bytes()) + " " + hash },
		"bridge": func(round int) string { return fmt.Sprintf("%s %d %s", cred.Password, 1000*chance+round, name) },
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
			t.Fatalf("the %s ended before it was killed, with %d left: %v\n%s", role, len(left()), err, said[role])
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
		t.Logf("round %d: %d left; killed %s", round, had, [...]string{"the node", "the bridge", "both"}[which])
	}
	if cut < kills/2 {
		t.Errorf("everything was carried after %d rounds of %d: the test needs more of it", cut, kills)
	}
	begin("node", kills)
	begin("bridge", kills)
	if err := runs["bridge"].Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said["bridge"])
	}
	if n := len(left()); n != 0 {
		t.Errorf("%d are left", n)
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
		for _, what := range k.said(&e) {
			if heard[what] == nil {
				heard[what] = map[memory.EventID]bool{}
			}
			if heard[what][e.ID] {
				twice++ // before the extractor, which knows identities
			}
			heard[what][e.ID] = true
		}
		if entry.Seq >= last {
			break
		}
	}
	things := 0
	for i, item := range all.Items {
		for _, what := range k.holds(item) {
			things++
			if got := len(heard[what]); got != 1 {
				t.Errorf("a part of item %d is there under %d identities", i, got)
			}
		}
	}
	t.Logf("%d items of %d parts over %d rounds; %d parts came again after a restart of the node", len(all.Items), things, cut, twice)
}
