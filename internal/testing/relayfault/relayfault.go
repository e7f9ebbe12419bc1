// Package relayfault tests replicas with a relay that misbehaves.
//
// The words:
//
//   - The relay is the real one, with its real store, behind a middle that passes requests on over
//     HTTP and tells lies about them.
//   - A [Lie] is one kind of misbehaviour. The seed alone decides which ones are told, how often,
//     and about what.
//   - A device is a replica with the real journal over the real store. It says things, syncs,
//     crashes between any two of its writes, is restored from a backup, and has a wrong clock.
//   - A world is a relay, its devices, and a stranger's space beside theirs. [Run] lets a world run
//     for a while, makes the relay honest, and then checks the promises (check.go).
//
// Steps are made one after another, so that a seed tells the same story again. Keys and ids are
// random, but no decision depends on them.
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
	Trace io.Writer // nil, or gets what happens, step by step
	Lies  []Lie     // nil: the seed chooses
	Rate  float64   // share of requests that are lied about; 0: the seed chooses
}

// Report says what a run did, for sums over many runs.
type Report struct {
	Steps    int
	Requests int
	Crashes  int
	Restored int         // devices that were restored from a backup
	Told     map[Lie]int // lies that were told
	LeftOut  int         // 1 if a removal left out what somebody had accepted, and that was reported
	Held     int         // pictures that the relay had to have, for a device that names them
	Pictures int         // 1 if it was checked that the relay has no unnamed blob
	Named    int         // rounds that ended with an error that names the problem
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

// chooseLies returns some, or all, of the lies that a relay can undo.
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

// people makes the stranger and the devices, over a relay that is still honest.
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
	w.said[0].excused = true // it must not reach any of our devices
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
