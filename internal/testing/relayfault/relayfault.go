// Package relayfault tries replicas against a relay that misbehaves.
//
// The words:
//
//   - The relay is the real one, with its real store, behind a middle that
//     passes requests on over HTTP and tells lies about them.
//   - A [Lie] is one way of misbehaving. Which ones are told, how often, and of
//     what, follows from the seed alone.
//   - A device is a replica with the real journal over the real store. It says
//     things, syncs, crashes between any two of its writes, is put back from a
//     backup, and has a clock that is wrong.
//   - A world is a relay, its devices, and a stranger's space beside theirs.
//     [Run] lets one be for a while, has the relay become honest, and then
//     checks what must hold (check.go).
//
// Steps are made one after another, so that a seed tells the same story again.
// Keys and ids are random all the same: no decision hangs on them.
package relayfault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
)

// Options of a run. Dir is needed.
type Options struct {
	Dir   string    // an empty folder, best in memory
	Trace io.Writer // nil, or what is told, step by step
	Lies  []Lie     // nil: the seed chooses
	Rate  float64   // of requests that are lied about; 0: the seed chooses
}

// Report says what a run did, for sums over many.
type Report struct {
	Steps    int
	Requests int
	Crashes  int
	Restored int         // devices that were put back from a backup
	Told     map[Lie]int // lies
	LeftOut  int         // 1 where a removal left out what somebody had taken, and it was named
	Held     int         // pictures that were looked for at the relay, for a device that names them
	Pictures int         // 1 where it was held that the relay has no blob that nobody names
	Named    int         // rounds that ended with an error that says what is wrong
}

// Run plays one seed. The error says which promise was broken.
func Run(ctx context.Context, seed uint64, o Options) (rep Report, err error) {
	w, err := newWorld(ctx, seed, o)
	if err != nil {
		return rep, fmt.Errorf("seed %d: begin: %w", seed, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	err = w.play()
	if err == nil {
		err = w.settle()
	}
	if err == nil {
		err = w.check()
	}
	rep = w.report
	rep.Requests, rep.Told = w.relay.requests, w.relay.told
	if err != nil {
		err = fmt.Errorf("seed %d: %w", seed, err)
	}
	return rep, err
}

// world is everything of one run.
type world struct {
	ctx      context.Context
	o        Options
	rng      *rand.Rand
	relay    *Relay
	space    *space
	stranger *device
	devices  []*device
	said     []*said
	erased   []*said
	blobs    []*blob
	report   Report
	n        int // names given
}

func newWorld(ctx context.Context, seed uint64, o Options) (_ *world, err error) {
	w := &world{ctx: ctx, o: o, rng: rand.New(rand.NewPCG(seed, 0x6c6f636b6574))}
	lies := o.Lies
	if lies == nil {
		lies = w.chooseLies()
	}
	w.tell("lies: %v", lies)
	if w.relay, err = openRelay(ctx, o.Dir, w.rng, lies, w.tell); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := w.people(); err != nil {
		return nil, err
	}
	w.relay.rate = []float64{0, 0.05, 0.15, 0.3, 0.5}[w.rng.IntN(5)]
	if o.Rate > 0 {
		w.relay.rate = o.Rate
	}
	w.relay.begin()
	return w, nil
}

// chooseLies returns a few, or all, of those that a relay can take back.
func (w *world) chooseLies() []Lie {
	all := slices.Clone(Temporary)
	if w.rng.IntN(4) == 0 {
		return all
	}
	w.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	lies := all[:1+w.rng.IntN(4)]
	slices.Sort(lies)
	return lies
}

// people makes the stranger and the devices, over a relay that is honest yet.
func (w *world) people() (err error) {
	strange, err := newSpace()
	if err != nil {
		return err
	}
	if w.stranger, err = w.found(strange, "stranger"); err != nil {
		return err
	}
	if err := w.propose(w.stranger, 9, "home"); err != nil {
		return err
	}
	w.said[0].excused = true // it must come to none of ours
	if err := w.stranger.sync(); err != nil {
		return err
	}
	if w.space, err = newSpace(); err != nil {
		return err
	}
	first, err := w.found(w.space, "a")
	if err != nil {
		return err
	}
	w.devices = append(w.devices, first)
	for range 1 + w.rng.IntN(2) {
		if err := w.add(first); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) tell(format string, args ...any) {
	if w.o.Trace != nil {
		fmt.Fprintf(w.o.Trace, format+"\n", args...)
	}
}

func (w *world) close() error {
	var errs []error
	for _, d := range append(slices.Clone(w.devices), w.stranger) {
		if d != nil {
			errs = append(errs, d.close())
		}
	}
	if w.relay != nil {
		errs = append(errs, w.relay.Close())
	}
	return errors.Join(errs...)
}
