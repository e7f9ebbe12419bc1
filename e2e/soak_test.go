package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// TestSoak only runs if -soak gives its duration, because a soak takes longer than CI has:
//
//	go test ./e2e -run TestSoak -v -timeout 8h -soak 6h -soak-devices 1000 -soak-seed 19
var (
	soakFor     = flag.Duration("soak", 0, "how long faults go on; 0: no soak")
	soakDevices = flag.Int("soak-devices", 40, "how many MQTT devices there are")
	soakSeed    = flag.Uint64("soak-seed", 19, "what faults and words are drawn by")
	soakEvery   = flag.Duration("soak-every", 500*time.Millisecond, "time between two events, of all devices together")
)

// soak is four nodes of one wearer, each with the wearables at its broker, two relays on one
// PostgreSQL, and a worker.
type soak struct {
	t     *testing.T
	began time.Time
	zones string // folder of the zone, whose clocks change often

	nodes    []*soakNode
	relays   []*relay
	database pgtest.Cluster
	restart  sync.Mutex // held while the database is restarted
	disks    []*smallDisk
	procs    []*proc
	devices  []*wear.Client // of all nodes in turn
	lines    atomic.Int64   // lines that they have said since the faults began

	mu    sync.Mutex
	lived time.Duration // how far all clocks are ahead of the machine's
}

// soakNode is a node, the link to its relay, and its broker.
type soakNode struct {
	*home
	name   string
	link   *link
	broker *mosquitto
	said   []spoken // said by this node's wearables
}

// spoken is a line, with its device's receipt.
type spoken struct {
	text    string
	receipt *wear.Receipt
}

// Whatever happens to nodes, relays, worker, database, disks, links and clocks: each acknowledged
// event is at its node once, all nodes and one that joins afterwards have the same content, and no
// process keeps memory, files or goroutines unnecessarily.
func TestSoak(t *testing.T) {
	if *soakFor == 0 {
		t.Skip("a long run: -soak says for how long") // docs/proof.md has the runs; CI has none
	}
	s := newSoak(t)
	start := s.rest()
	stop := make(chan struct{})
	var talk, watched sync.WaitGroup
	talk.Go(func() { s.talk(stop) })
	watched.Go(func() { s.watch(stop) })
	s.suffer()
	close(stop)
	talk.Wait()
	watched.Wait()
	s.logf("the faults are over")
	s.nothingIsLost()
	s.flat(start)
}

func (s *soak) logf(format string, a ...any) {
	s.t.Logf("%8.1fs "+format, append([]any{time.Since(s.began).Seconds()}, a...)...)
}

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, zones: t.TempDir(), began: time.Now()}
	s.makeZone()
	url := s.database.Database(t)
	t.Cleanup(func() {
		if err := s.database.Stop(); err != nil {
			t.Error(err)
		}
	})
	cloud(t, "migrate", "up", "--db", url)
	blobs := s.newSmallDisk("the relays' folder of blobs").dir
	for i := range 2 {
		r := newRelay(t, "--open", "--db", url, "--blobs", "file://"+blobs, "--no-access-log")
		r.kill()
		p := &proc{name: fmt.Sprintf("relay-%d", i), pid: func() int { return r.cmd.Process.Pid }, kill: r.kill, start: r.tryStart, may: relayGrowth}
		p.log = func() string { return r.log.String() }
		p.quit = func() {
			r.cmd.Process.Signal(syscall.SIGQUIT)
			r.cmd.Wait()
		}
		r.begin = s.begin(p)
		r.start()
		s.relays, s.procs = append(s.relays, r), append(s.procs, p)
	}
	for i := range 4 {
		s.addNode(i)
	}
	s.addWorker()
	for i := range *soakDevices {
		c, err := wear.Dial(wear.Config{URL: s.nodes[i%len(s.nodes)].broker.plain(), Device: fmt.Sprintf("pin-%d", i), Stamp: func(h *wire.Header) { h.At = s.now() }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s.devices = append(s.devices, c)
	}
	return s
}

// addNode adds a node: the first by itself, the others let in by it. For half of them the other
// relay is near.
func (s *soak) addNode(i int) {
	s.t.Helper()
	p := &proc{name: fmt.Sprintf("node-%d", i), may: nodeGrowth}
	s.procs = append(s.procs, p)
	n := &soakNode{name: p.name, link: newLink(s.t, strings.TrimPrefix(s.relays[i%2].url, "http://")), broker: newOpenBroker(s.t)}
	if i == 0 {
		n.home = newHome(s.t)
	} else {
		n.home = s.nodes[0].letIn(p.name)
	}
	if i == diskNode {
		n.dir = s.newSmallDisk(n.name).take(s.t, n.dir)
	}
	n.env, n.begin = []string{"ZONEINFO=" + s.zones}, s.begin(p)
	n.run = append(n.run, "--broker", n.broker.plain(), "--set", "zone="+soakZone, "--set", "sync.relay=http://"+n.link.addr)
	n.start()
	p.pid, p.kill, p.start = func() int { return n.d.cmd.Process.Pid }, func() { n.d.kill() }, func() error { _, err := n.tryStart(); return err }
	p.log, p.plugins = func() string { return n.d.log.String() }, n.linear
	p.quit = func() {
		n.d.cmd.Process.Signal(syscall.SIGQUIT)
		<-n.d.done
	}
	s.nodes = append(s.nodes, n)
	s.logf("%s is there", n.name)
}

// addWorker lets a worker in for recordings.
func (s *soak) addWorker() {
	s.t.Helper()
	engines(s.t)
	dir := filepath.Join(s.t.TempDir(), "worker")
	var asked struct{ Request string }
	mustParse(s.t, cloud(s.t, "--json", "worker", "invite-key", "--home", dir), &asked)
	var g serve.Grant
	s.nodes[0].mustJSON(&g, "grant", "worker", asked.Request, "--name", "the PC at home", "--types", "resource", "--transcribe", "--feed", "--recordings")
	cloud(s.t, "worker", "join", "--home", dir, "--relay", s.relays[1].url, g.Welcome)
	var log *logbook.Book
	var cmd *exec.Cmd
	p := &proc{name: "worker", may: workerGrowth}
	begin := s.begin(p)
	p.start = func() error {
		log = new(logbook.Book)
		cmd = exec.Command(filepath.Join(bin, "locket-cloud"), "worker", "--home", dir)
		cmd.Stdout, cmd.Stderr = log, log
		return begin(cmd)
	}
	p.log = func() string { return log.String() }
	p.quit = func() {
		cmd.Process.Signal(syscall.SIGQUIT)
		cmd.Wait()
	}
	p.kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}
	p.pid = func() int { return cmd.Process.Pid }
	s.procs = append(s.procs, p)
	if err := p.start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		p.kill()
		if s.t.Failed() {
			s.t.Logf("the worker: %s", log)
		}
	})
}

// talk publishes the wearables' lines until stop is closed. Some lines contradict what was said at
// other nodes. For a tenth of them the clock is a day off.
func (s *soak) talk(stop <-chan struct{}) {
	r := rand.New(rand.NewPCG(*soakSeed, 1))
	sound := audio.Speech()
	tick := time.NewTicker(*soakEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		d := r.IntN(len(s.devices))
		at := s.now()
		switch d % 20 {
		case 0:
			at = at.Add(-24 * time.Hour)
		case 1:
			at = at.Add(24 * time.Hour)
		}
		said := spoken{text: fmt.Sprintf("Note %d:", i)} // no two lines are equal: if two wearables hear the same at one time, one copy is kept
		for range 8 {
			said.text += " " + nouns[r.IntN(len(nouns))]
		}
		if r.IntN(4) == 0 {
			said.text = fmt.Sprintf(facts[r.IntN(len(facts))], names[r.IntN(len(names))], places[r.IntN(len(places))]) + " " + said.text + "."
		}
		var m wire.Message = &wire.Words{Header: wire.Header{At: at}, Speaker: "Ana", Text: said.text}
		if i%600 == 20 {
			said.text, m = "", &wire.Audio{Header: wire.Header{At: at}, Codec: "wav", Data: sound, Last: true}
		}
		ctx, cancel := context.WithTimeout(s.t.Context(), patience)
		var err error
		if said.receipt, err = s.devices[d].Publish(ctx, m); err != nil {
			s.t.Errorf("publish %d: %v", i, err)
		} else {
			n := s.nodes[d%len(s.nodes)]
			n.said = append(n.said, said)
			s.lines.Add(1)
		}
		cancel()
	}
}

var (
	nouns  = strings.Fields("amber ladder violin harbour pepper candle meadow anchor basket copper daisy engine feather garden hammer island jacket kettle lantern marble needle orchard pencil quarry ribbon saddle timber umbrella velvet window")
	facts  = []string{"My friend %s lives in %s.", "My colleague %s moved to %s.", "%s works in %s.", "I met %s in %s yesterday."}
	names  = []string{"Rita", "Tom", "Ines", "Paul", "Marta", "Bruno", "Clara", "Hugo", "Sofia", "Nuno"}
	places = []string{"Lisbon", "Porto", "Vienna", "Oslo", "Lindau", "Seville", "Ghent", "Turin", "Bergen", "Cork"}
)

// nothingIsLost waits until everything that was said is acknowledged and all nodes have the same
// content, including one more that can only get it from the relays.
func (s *soak) nothingIsLost() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), soakPatience)
	defer cancel()
	events := 0
	for i, n := range s.nodes {
		for _, said := range n.said {
			if err := said.receipt.Wait(ctx); err != nil {
				s.t.Fatalf("node-%d: %s: %v\n%s", i, said.receipt.ID, err, n.d.log)
			}
		}
		events += len(n.said)
	}
	s.logf("%d events were acknowledged", events)
	for i, n := range s.nodes {
		missing := ""
		s.until(fmt.Sprintf("node-%d has worked through what it acknowledged", i), func() bool {
			missing = ""
			at := n.pieces()
			for _, said := range n.said {
				if got := at[said.receipt.ID]; said.text != "" && !slices.Equal(got, []string{said.text}) {
					missing += fmt.Sprintf("\n%s: %q, and there is %q", said.receipt.ID, said.text, got)
				}
			}
			return missing == ""
		}, func() string { return missing })
	}
	late := s.nodes[0].letIn("late")
	late.env = s.nodes[0].env
	late.start()
	homes := []*home{late}
	for _, n := range s.nodes {
		homes = append(homes, n.home)
	}
	s.until("the worker's words come to all", func() bool {
		s.nodes[0].try("grant", "tend")
		return len(late.heard()[result.TagTranscript]) > 0
	}, late.d.log.String)
	have := s.alike(homes)
	s.logf("%d records at each of %d nodes", len(have), len(homes))
	for _, h := range homes {
		if out := h.must("doctor", "--verify"); !strings.Contains(out, "every record") {
			s.t.Errorf("%s: doctor --verify: %s", h.dir, out)
		}
	}
	if err := late.d.stop(s.t); err != nil {
		s.t.Error(err)
	}
}

// until waits for a condition, for longer than in other tests.
func (s *soak) until(what string, ok func() bool, why func() string) {
	s.t.Helper()
	for end := time.Now().Add(soakPatience); !ok(); wait(2 * time.Second) {
		if time.Now().After(end) {
			s.t.Fatalf("%s: not within %v: %s", what, soakPatience, why())
		}
	}
}

// alike waits until all homes hold the same, and returns that.
func (s *soak) alike(homes []*home) map[string]bool {
	s.t.Helper()
	for end := time.Now().Add(soakPatience); ; wait(2 * time.Second) {
		for _, h := range homes {
			h.try("sync", "--now")
		}
		first, same := homes[0].travels(), true
		for _, h := range homes[1:] {
			have := h.travels()
			if same = maps.Equal(first, have); same {
				continue
			}
			if time.Now().After(end) {
				s.t.Fatalf("%s has, and %s has not: %s\nthe other way round: %s\n%s", homes[0].dir, h.dir, less(first, have), less(have, first), h.d.log)
			}
			break
		}
		if same {
			s.sameMemories(homes)
			return first
		}
	}
}

// sameMemories compares the memories of all homes.
func (s *soak) sameMemories(homes []*home) {
	s.t.Helper()
	lines := func(h *home) []string {
		out := strings.Split(strings.TrimSpace(h.must("--json", "list", "--state", "all", "--limit", "1000000")), "\n")
		out = slices.DeleteFunc(out, func(line string) bool { return strings.Contains(line, `"type":"vault"`) })
		slices.Sort(out)
		return out
	}
	first := lines(homes[0])
	for _, h := range homes[1:] {
		have := lines(h)
		for i := range min(len(first), len(have)) {
			if first[i] != have[i] {
				s.t.Errorf("%s makes of the same\n%s\n%s makes\n%s", homes[0].dir, first[i], h.dir, have[i])
				break
			}
		}
		if len(first) != len(have) {
			s.t.Errorf("%s has %d memories, %s has %d", homes[0].dir, len(first), h.dir, len(have))
		}
	}
	s.logf("%d memories at each", len(first))
}

// travels returns the synced part of a home's export: an utterance's metadata, such as a device's
// time that was not believed, stays at the node that received it.
func (h *home) travels() map[string]bool {
	h.t.Helper()
	out := map[string]bool{}
	for line := range h.holdings() {
		if strings.HasPrefix(line, `{"kind":"utterance"`) {
			line, _, _ = strings.Cut(line, `,"metadata":`)
			line = strings.TrimRight(line, "}\n")
		}
		out[line] = true
	}
	return out
}
