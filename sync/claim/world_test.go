package claim

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// op is a statement of a member: that a name is of a picture, or that it is erased. A picture is
// its sealed blob: equal pictures have one blob.
type op struct {
	by, name, picture int
	erases            bool
}

// place keeps ops in one order, and blobs.
type place struct {
	ops   []op
	blobs map[int]bool
}

// deletion is a request that has not arrived yet.
type deletion struct{ device, place, picture, cursor int }

// device is a member: what it said and heard, and what it has.
type device struct {
	id     int
	owner  bool
	said   []op
	known  map[op]bool
	notes  map[int]int // picture by name, of names that are not erased
	gone   map[int]bool
	bytes  map[int]bool    // by name
	put    map[[2]int]bool // place and number of its ops whose blob was sent there for them
	heard  []int           // cursor of each place
	end    []int           // last known end of each place; -1: never seen
	bare   [][]op          // ops of each place that were heard without their bodies
	doubts []map[int]bool  // doubts of each place, by picture
	shown  map[int]bool    // names whose blob the first place has proven to have, so that the device may drop it
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

// say sends the next op to a place; for a name, it first sends the blob if it is not there. It
// reports whether there was something to do.
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

// body fetches the body of an op that was heard without it. It reports whether there was something
// to do.
func (d *device) body(p int) bool {
	if len(d.bare[p]) == 0 {
		return false
	}
	d.take(d.bare[p][0])
	d.bare[p] = d.bare[p][1:]
	return true
}

// tend handles a doubt. It returns a deletion instead of making it.
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

// unsaid reports whether a place has yet to take a note of a picture.
func (d *device) unsaid(p, picture int) bool {
	return slices.ContainsFunc(d.said, func(o op) bool {
		return !o.erases && o.picture == picture && !d.gone[o.name] && !slices.Contains(d.at[p].ops, o)
	})
}

// look asks the first place for a blob that might be dropped, and drop drops it.
func (d *device) look(name int) {
	picture := d.notes[name]
	d.shown[name] = Bytes{Noted: !d.unsaid(0, picture), Shown: d.at[0].blobs[picture]}.MayGo()
}

// world has devices that share places.
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

// arrive makes a deletion reach its place, possibly twice; lost means that its answer is lost.
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

// lives checks that whoever names a picture can get it: some place has it, or some device that
// names it.
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

// settle makes everybody do what is to be done until nothing changes any more.
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
