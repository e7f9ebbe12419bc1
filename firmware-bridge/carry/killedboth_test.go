package carry_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	"github.com/locket-dev/locket/firmware-bridge/carry/owntracks"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	omiframe "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// stock is what a device has stored, in a file that outlives the bridge.
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

// stocked is a family whose devices keep items until they are told to delete them.
type stocked struct {
	family carry.Family
	loss   float64 // share of what the device sends that is lost
	loops  int     // items for each kill
	sounds bool    // a killed bridge leaves a gap
	slow   int     // ms in which nothing is carried yet
	make   func(n int) stock
	device func(s stock, reboots int, gone func(stock)) link.Dialer // calls gone with what is left
	holds  func(item []byte) []string                               // the parts of an item that must be in the node, once each
	said   func(e *memory.Event) []string                           // the same, of an event
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

// omiFrames returns the frames of a record.
func omiFrames(b []byte) (out []string) {
	for _, f := range omiframe.LegacyFrames(b[4:]) {
		out = append(out, string(f))
	}
	return out
}

// jump returns by how much the device's clock is wrong when it stores the i-th of n items: the
// clock jumps three times.
func jump(i, n int) time.Duration {
	return [...]time.Duration{0, 3 * time.Hour, -26 * time.Hour, 90 * time.Second}[4*i/n]
}

var allStocked = map[string]stocked{
	"limitless": {
		family: limitless.Family, loss: .3, loops: 40, sounds: true,
		make: func(n int) (s stock) {
			for i, p := range limitless.NewPendant(carry.Play{Amount: n}).Pages() {
				p.At = p.At.Add(jump(i, n))
				b, err := json.Marshal(p)
				must(err)
				s.Items = append(s.Items, b)
			}
			return s
		},
		device: func(s stock, reboots int, gone func(stock)) link.Dialer {
			var pages []frame.Page
			for _, b := range s.Items {
				var p frame.Page
				must(json.Unmarshal(b, &p))
				pages = append(pages, p)
			}
			d := limitless.PendantWith(pages)
			d.Reboot = reboots
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
	// Any loss spoils a transfer, which takes over a thousand notifications: with more loss the
	// bridge would be killed before the first transfer is whole. The radio itself repeats lost
	// packets. TestSimulatedStorage tests a worse link.
	"omi": {
		family: omi.Family, loss: .001, loops: 400, sounds: true,
		make: func(n int) (s stock) {
			for i, rec := range omi.NewPendant(carry.Play{Amount: n}).Records() {
				at := binary.BigEndian.Uint32(rec)
				binary.BigEndian.PutUint32(rec, at+uint32(jump(i, n)/time.Second))
				s.Items = append(s.Items, rec)
			}
			return s
		},
		device: func(s stock, reboots int, gone func(stock)) link.Dialer {
			d := omi.PendantWith(s.Items, s.First)
			d.Reboot = reboots
			d.OnDeleted = func(records [][]byte) {
				s.Items, s.First = s.Items[len(records):], s.First+uint64(len(records))
				gone(s)
			}
			return d
		},
		holds: omiFrames,
		said:  heardIn,
	},
	// The file is deleted as a whole, once all of it is with the node. After a kill, the bridge
	// continues where the node has everything.
	"omi-legacy": {
		family: omi.Family, loss: .001, loops: 400, sounds: true,
		make: func(n int) (s stock) {
			s.Items = omi.NewPendant(carry.Play{Amount: n}).Records()
			return s
		},
		device: func(s stock, reboots int, gone func(stock)) link.Dialer {
			d := omi.PendantWith(s.Items, 0)
			d.Legacy, d.Reboot = true, reboots
			d.OnDeleted = func(records [][]byte) {
				s.Items = s.Items[len(records):]
				gone(s)
			}
			return d
		},
		holds: omiFrames,
		said:  heardIn,
	},
	// A broker sends unacknowledged messages again.
	"owntracks": {
		family: owntracks.Family, loss: .3, loops: 60,
		make: func(n int) (s stock) {
			for i := range n {
				s.Items = append(s.Items, fmt.Appendf(nil, `{"_type":"location","lat":%.6f,"lon":13.4,"acc":5,"tst":%d}`, 52+float64(i)/10000, 1773489600+60*i+int(jump(i, n)/time.Second)))
			}
			return s
		},
		device: func(s stock, reboots int, gone func(stock)) link.Dialer {
			return brokerOf(s, reboots, gone, func(b []byte) link.Notification {
				return link.Notification{Char: "owntracks/jane/phone", Data: b}
			})
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
	"homeassistant": inHouse,
	"files":         inFolder,
}

// killedBridge carries what a device has stored over a link that loses some of it; stock.json holds
// what the device was not told to delete. secret is the password, the seed, and the family. It ends
// when nothing is stored any more.
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
	d := k.device(all, number("REBOOTS", 3), func(s stock) { must(s.write(dir)) })
	state, s, _, c, err := begun(wear.Config{URL: "tcp://" + at, Password: password, MaxWait: 50 * time.Millisecond}, dir, must)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	cfg := carry.Config{
		Dialer: &link.Faulty{Dialer: d, Loss: k.loss, Reorder: k.loss > .1, Rand: rand.New(rand.NewPCG(chance, 1))}, Client: c, State: state,
		Family: k.family, Options: carry.Options{Storage: true, Device: "jane/phone", Prefix: k.family.Prefix}, Spool: s, FirstWait: time.Millisecond}
	if told, ok := d.(interface{ told(carry.Note) }); ok {
		cfg.OnNote = told.told
	}
	rep, err := carry.Run(context.Background(), cfg)
	if err == nil && rep.Waiting+rep.Refused+rep.Dropped > 0 {
		err = fmt.Errorf("%+v", rep)
	}
	return err
}

// Bridge and node are killed again and again, together or one of them. Meanwhile a part of what the
// device sends is lost, its clock jumps, and after each start of the bridge its connection ends in
// the middle three times, as if the device restarted. Each item that the device was told to delete
// is in the node's journal, once by its identity; in the end all of them are. In a family with
// sound, gaps show that a bridge was killed. KILLS sets the number of rounds, REBOOTS the number of
// the device's restarts in each, and KILLS_SEED another seed.
func TestKilledBoth(t *testing.T) {
	for name := range allStocked {
		t.Run(name, func(t *testing.T) { killBoth(t, name) })
	}
}

func killBoth(t *testing.T, name string) {
	k := allStocked[name]
	kills, chance := number("KILLS", 4), number("KILLS_SEED", 1)
	h := newHouse(t)
	all := k.make(k.loops * (kills + 1))
	if err := all.write(h.dir); err != nil {
		t.Fatal(err)
	}
	left := func() [][]byte {
		t.Helper()
		s, err := readStock(h.dir)
		if err != nil {
			t.Fatal(err)
		}
		return s.Items
	}
	runs := map[string]*running{}
	begin := func(round int) {
		t.Helper()
		if runs["node"] == nil {
			runs["node"] = h.node(t, nil)
		}
		if runs["bridge"] == nil {
			runs["bridge"] = h.run(t, "bridge", fmt.Sprintf("%s %d %s", h.password, 1000*chance+round, name), nil)
		}
	}
	end := func(role string) {
		t.Helper()
		r := runs[role]
		delete(runs, role)
		exited, err := r.kill(t)
		if err == nil && role == "bridge" && len(left()) == 0 {
			return // it had just ended by itself
		}
		if exited {
			t.Fatalf("the %s ended before it was killed, with %d left: %v\n%s", role, len(left()), err, &r.said)
		}
	}
	dice := rand.New(rand.NewPCG(uint64(chance), 3))
	cut, bridges := 0, 0 // rounds that ended while there was something to carry, and killed bridges
	began := false       // one of those bridges had begun to carry
	for round := range kills {
		begin(round)
		// The kill comes at a random point in time, or at a random number of remaining items,
		// whichever comes first. Time suits families where many pages are deleted at once when the
		// first missing one arrives; the number suits fast ones, so that items are left for each
		// later round.
		had := len(left())
		enough := had - 1 - dice.IntN(max(1, 2*had/(kills-round+1)))
		for until := time.Now().Add(time.Duration(100+k.slow+dice.IntN(600)) * time.Millisecond); time.Now().Before(until) && had > enough; had = len(left()) {
			time.Sleep(5 * time.Millisecond) // the interval of looking; the line above ends the loop
		}
		if had == 0 {
			break
		}
		cut++
		which := dice.IntN(3)
		if which != 1 {
			end("node")
		}
		if which == 2 { // what the bridge does while the node is gone must not count as done
			time.Sleep(time.Duration(dice.IntN(600)) * time.Millisecond) // as above
		}
		if which != 0 {
			end("bridge")
			bridges++
			began = began || h.runs(t)
		}
		t.Logf("round %d: %d left; killed %s", round, had, [...]string{"the node", "the bridge", "both"}[which])
	}
	if cut < kills/2 {
		t.Errorf("everything was carried after %d rounds of %d: the test needs more of it", cut, kills)
	}
	begin(kills)
	if err := runs["bridge"].cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &runs["bridge"].said)
	}
	if n := len(left()); n != 0 {
		t.Errorf("%d are left", n)
	}
	end("node")

	heard, twice := map[string]map[memory.EventID]bool{}, 0
	gaps := map[memory.EventID]bool{}
	h.each(t, func(e *memory.Event) {
		if e.Kind == memory.KindGap && strings.Contains(e.Reason, ended) {
			gaps[e.ID] = true
		}
		for _, what := range k.said(e) {
			if heard[what] == nil {
				heard[what] = map[memory.EventID]bool{}
			}
			if heard[what][e.ID] {
				twice++
			}
			heard[what][e.ID] = true
		}
	})
	things := 0
	for i, item := range all.Items {
		for _, what := range k.holds(item) {
			things++
			if got := len(heard[what]); got != 1 {
				t.Errorf("a part of item %d is there under %d identities", i, got)
			}
		}
	}
	// A bridge that was killed before it could carry anything, or report the previous kill, leaves
	// no gap of its own. On a busy machine that may be all of them.
	if n := len(gaps); (n > 0) != (k.sounds && began) || n > bridges {
		t.Errorf("%d gaps tell of %d bridges that were killed", n, bridges)
	}
	t.Logf("%d items of %d parts over %d rounds, %d gaps for %d killed bridges; %d parts came again after a restart of the node", len(all.Items), things, cut, len(gaps), bridges, twice)
}
