package claim

import (
	"flag"
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
