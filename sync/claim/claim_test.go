package claim

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMain makes the test of claims try many long stories, unless the command
// sets the number, because a fault may need several devices with several steps
// each.
func TestMain(m *testing.M) {
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": "8000", "rapid.steps": "120"} {
		if given[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	m.Run()
}

// op is what a member says: that a name is of a picture, or that it is erased. A
// picture is its sealed blob: alike ones are one.
type op struct {
	by, name, picture int
	erases            bool
}

// place keeps ops in one order, and blobs.
type place struct {
	ops   []op
	blobs map[int]bool
}

// deletion is a request on its way.
type deletion struct{ device, place, picture, cursor int }

// device is a member: what it said and heard, and what it has.
type device struct {
	id     int
	owner  bool
	said   []op
	known  map[op]bool
	notes  map[int]int // by name, of what lives
	gone   map[int]bool
	bytes  map[int]bool    // by name
	put    map[[2]int]bool // place and number of what it said: its blob was sent there for it
	heard  []int           // of each place
	end    []int           // of each, as it was last seen; -1: never
	bare   [][]op          // of each, what was heard without its body
	doubts []map[int]bool  // of each, by picture
	shown  map[int]bool    // names whose blob the first place has shown, and it may drop
	at     []*place
}

func (d *device) take(o op) {
	if d.known[o] {
		return
	}
	d.known[o] = true
	switch {
	case o.erases:
		if was, lived := d.notes[o.name]; lived {
			d.doubt(was)
		}
		d.gone[o.name] = true
		delete(d.notes, o.name)
		delete(d.bytes, o.name)
	case d.gone[o.name]:
		d.doubt(o.picture)
	default:
		d.notes[o.name] = o.picture
	}
}

func (d *device) doubt(picture int) {
	for p := range d.at {
		d.doubts[p][picture] = true
	}
}

func (d *device) named(picture int) bool {
	return slices.Contains(slices.Collect(maps.Values(d.notes)), picture)
}

func (d *device) has(picture int) bool {
	for name := range d.bytes {
		if d.notes[name] == picture {
			return true
		}
	}
	return false
}

// say sends what comes next to a place: of a name its blob first, where it is not
// there. It reports whether there was something to do.
func (d *device) say(p int) bool {
	for i, o := range d.said {
		if slices.Contains(d.at[p].ops, o) {
			continue
		}
		if !o.erases && !d.gone[o.name] && !d.put[[2]int{p, i}] {
			d.doubts[p][o.picture] = true
			if d.bytes[o.name] {
				d.at[p].blobs[o.picture] = true
			}
			d.put[[2]int{p, i}] = true
			return true
		}
		d.at[p].ops = append(d.at[p].ops, o)
		if !o.erases {
			d.doubts[p][o.picture] = true
		}
		return true
	}
	return false
}

func (d *device) hear(p int) bool {
	if d.heard[p] == len(d.at[p].ops) {
		changed := d.end[p] != d.heard[p]
		d.end[p] = d.heard[p]
		return changed
	}
	d.take(d.at[p].ops[d.heard[p]])
	d.heard[p]++
	return true
}

// body has what was heard without its body come with it. It reports whether
// there was something to do.
func (d *device) body(p int) bool {
	if len(d.bare[p]) == 0 {
		return false
	}
	d.take(d.bare[p][0])
	d.bare[p] = d.bare[p][1:]
	return true
}

// tend deals with a doubt. A deletion is given, and not done.
func (d *device) tend(p, picture int) *deletion {
	switch (Doubt{Named: d.named(picture), Whole: d.end[p] == d.heard[p] && len(d.bare[p]) == 0, Owner: d.owner}).Verdict() {
	case See:
		if d.has(picture) {
			d.at[p].blobs[picture] = true
		}
		delete(d.doubts[p], picture)
	case Delete:
		return &deletion{d.id, p, picture, d.heard[p]}
	case Leave:
		delete(d.doubts[p], picture)
	}
	return nil
}

// unsaid reports whether a note of a picture has yet to be taken by a place.
func (d *device) unsaid(p, picture int) bool {
	return slices.ContainsFunc(d.said, func(o op) bool {
		return !o.erases && o.picture == picture && !d.gone[o.name] && !slices.Contains(d.at[p].ops, o)
	})
}

// look asks the first place for a blob that might be dropped, and drop does it.
func (d *device) look(name int) {
	picture := d.notes[name]
	d.shown[name] = Bytes{Noted: !d.unsaid(0, picture), Shown: d.at[0].blobs[picture]}.MayGo()
}

// world is devices that share places.
type world struct {
	devices []*device
	places  []*place
	flying  []deletion
	names   int
	erased  map[int]bool
	of      map[int]int // pictures by name
}

func newWorld(t *rapid.T) *world {
	w := &world{erased: map[int]bool{}, of: map[int]int{}}
	for range rapid.IntRange(1, 2).Draw(t, "places") {
		w.places = append(w.places, &place{blobs: map[int]bool{}})
	}
	for i := range 4 {
		d := &device{id: i, owner: i < 3, known: map[op]bool{}, notes: map[int]int{}, gone: map[int]bool{}, bytes: map[int]bool{},
			put: map[[2]int]bool{}, shown: map[int]bool{}, at: w.places}
		for range d.at {
			d.heard, d.end, d.doubts = append(d.heard, 0), append(d.end, -1), append(d.doubts, map[int]bool{})
			d.bare = append(d.bare, nil)
		}
		w.devices = append(w.devices, d)
	}
	return w
}

// arrive has a deletion come to its place, or be done twice; lost: its answer does
// not come back.
func (w *world) arrive(x deletion, lost bool) {
	p, d := w.places[x.place], w.devices[x.device]
	if len(p.ops) != x.cursor {
		return
	}
	delete(p.blobs, x.picture)
	if !lost {
		delete(d.doubts[x.place], x.picture)
	}
}

// lives checks that who names a picture can have it: some place has it, or some
// device that names it.
func (w *world) lives() error {
	for name, picture := range w.of {
		if w.erased[name] {
			continue
		}
		there := slices.ContainsFunc(w.places, func(p *place) bool { return p.blobs[picture] }) ||
			slices.ContainsFunc(w.devices, func(d *device) bool { return d.has(picture) })
		if !there {
			return fmt.Errorf("picture %d, which %d names, is nowhere", picture, name)
		}
	}
	return nil
}

// settle has everybody do what is to be done until nothing moves.
func (w *world) settle() {
	for _, x := range w.flying {
		w.arrive(x, false)
	}
	w.flying = nil
	for moved := true; moved; {
		moved = false
		for _, d := range w.devices {
			for p := range d.at {
				for d.say(p) || d.hear(p) || d.body(p) {
					moved = true
				}
				for picture := range maps.Clone(d.doubts[p]) {
					if x := d.tend(p, picture); x != nil {
						w.arrive(*x, false)
					}
					moved = moved || !d.doubts[p][picture]
				}
			}
		}
	}
}

// Devices take pictures, some of them equal, forget them, drop their bytes and
// download them again, in any order, while requests are late or lost. At every
// moment, a blob that a note names must exist somewhere, and in the end at a
// place. A blob that no note names must be at no place in the end.
func TestClaims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		some := func(t *rapid.T) *device { return w.devices[rapid.IntRange(0, 3).Draw(t, "device")] }
		at := func(t *rapid.T) (*device, int) {
			d := some(t)
			return d, rapid.IntRange(0, len(d.at)-1).Draw(t, "place")
		}
		name := func(t *rapid.T, m map[int]int) int {
			if len(m) == 0 {
				t.Skip("none")
			}
			return rapid.SampledFrom(slices.Sorted(maps.Keys(m))).Draw(t, "name")
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if err := w.lives(); err != nil {
					t.Fatal(err)
				}
			},
			"take": func(t *rapid.T) {
				d := some(t)
				if !d.owner {
					t.Skip("what another than an owner sends, it could not take back")
				}
				w.names++
				o := op{by: d.id, name: w.names, picture: rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "picture")}
				w.of[o.name] = o.picture
				d.said, d.bytes[o.name] = append(d.said, o), true
				d.take(o)
			},
			"forget": func(t *rapid.T) {
				d := some(t)
				o := op{by: d.id, name: name(t, d.notes), erases: true}
				w.erased[o.name] = true
				d.said = append(d.said, o)
				d.take(o)
			},
			"say": func(t *rapid.T) {
				d, p := at(t)
				d.say(p)
			},
			"hear": func(t *rapid.T) {
				d, p := at(t)
				d.hear(p)
			},
			"hear without a body": func(t *rapid.T) {
				d, p := at(t)
				if next := d.heard[p]; next < len(d.at[p].ops) {
					d.bare[p] = append(d.bare[p], d.at[p].ops[next])
					d.heard[p]++
				}
			},
			"body": func(t *rapid.T) {
				d, p := at(t)
				d.body(p)
			},
			"hear all": func(t *rapid.T) {
				for d, p := at(t); d.hear(p); {
				}
			},
			"round": func(t *rapid.T) {
				d, p := at(t)
				for d.say(p) || d.hear(p) {
				}
				for _, picture := range slices.Sorted(maps.Keys(d.doubts[p])) {
					if x := d.tend(p, picture); x != nil {
						w.flying = append(w.flying, *x)
					}
				}
			},
			"tend": func(t *rapid.T) {
				d, p := at(t)
				for _, picture := range slices.Sorted(maps.Keys(d.doubts[p])) {
					if x := d.tend(p, picture); x != nil {
						w.flying = append(w.flying, *x)
					}
				}
			},
			"arrive": func(t *rapid.T) {
				if len(w.flying) == 0 {
					t.Skip("none")
				}
				i := rapid.IntRange(0, len(w.flying)-1).Draw(t, "deletion")
				lost, again := rapid.Bool().Draw(t, "lost"), rapid.Bool().Draw(t, "again")
				w.arrive(w.flying[i], lost)
				if !again {
					w.flying = slices.Delete(w.flying, i, i+1)
				}
			},
			"look": func(t *rapid.T) {
				for d, n := some(t), 1; n <= w.names; n++ {
					if d.bytes[n] {
						d.look(n)
					}
				}
			},
			"drop": func(t *rapid.T) {
				d := some(t)
				for n := range d.shown {
					if d.shown[n] {
						delete(d.bytes, n)
					}
					delete(d.shown, n)
				}
			},
			"fetch": func(t *rapid.T) {
				d, p := at(t)
				n := name(t, d.notes)
				if w.places[p].blobs[d.notes[n]] {
					d.bytes[n] = true
				}
			},
			"crash": func(t *rapid.T) {
				d := some(t)
				clear(d.put)
				clear(d.shown)
				for p := range d.end {
					d.end[p] = -1
				}
			},
		})
		w.settle()
		if err := w.lives(); err != nil {
			t.Fatal(err)
		}
		named := map[int]bool{}
		for n, picture := range w.of {
			named[picture] = named[picture] || !w.erased[n]
		}
		for i, p := range w.places {
			for picture := range p.blobs {
				if !named[picture] {
					t.Errorf("place %d has picture %d, which nobody names", i, picture)
				}
			}
		}
		for picture, is := range named {
			if is && !slices.ContainsFunc(w.places, func(p *place) bool { return p.blobs[picture] }) {
				t.Errorf("no place has picture %d, which is named", picture)
			}
		}
	})
}

// The test has the conditions of each verdict.
func TestVerdicts(t *testing.T) {
	for d, want := range map[Doubt]Verdict{
		{Named: true}:                           See,
		{Named: true, Whole: true, Owner: true}: See,
		{Whole: true}:                           Leave,
		{Owner: true}:                           Wait,
		{Owner: true, Whole: true}:              Delete,
	} {
		if got := d.Verdict(); got != want {
			t.Errorf("%+v: %d, want %d", d, got, want)
		}
	}
	all := Bytes{Noted: true, Shown: true}
	if !all.MayGo() {
		t.Error("what can be had again may go")
	}
	for _, b := range []Bytes{{}, {Noted: true}, {Shown: true}} {
		if b.MayGo() {
			t.Errorf("%+v may go", b)
		}
	}
}
