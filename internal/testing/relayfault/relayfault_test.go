package relayfault

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"
)

var (
	oneSeed   = flag.Uint64("seed", 0, "the one seed to run, and to tell step by step")
	firstSeed = flag.Uint64("first", 1, "the first seed")
	seeds     = flag.Int("seeds", 40, "how many seeds to run")
)

// folder is in memory if possible: a seed writes much and keeps nothing, and power loss is not
// tested here.
func folder(t *testing.T) string {
	if _, err := os.Stat("/dev/shm"); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "hostile")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A failing seed is repeated by the command that it prints. The long form is recorded in
// docs/proof.md.
func TestHostileRelay(t *testing.T) {
	if *oneSeed != 0 {
		if _, err := Run(t.Context(), *oneSeed, Options{Dir: folder(t), Trace: os.Stderr}); err != nil {
			t.Fatal(err)
		}
		return
	}
	root := folder(t)
	sum := Report{Told: map[Lie]int{}}
	start := time.Now()
	for seed := *firstSeed; seed < *firstSeed+uint64(*seeds); seed++ {
		dir := fmt.Sprintf("%s/%d", root, seed)
		r, err := Run(t.Context(), seed, Options{Dir: dir})
		if err != nil {
			t.Errorf("%v\nreplay: go test ./internal/testing/relayfault -run TestHostileRelay -seed %d", err, seed)
		}
		sum.add(&r)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d seeds in %s: %d steps, %d requests, %d crashes, %d put back from a backup, %d rounds that named what was wrong, %d removals that left something out, %d pictures looked for, %d times none that nobody names", *seeds,
		time.Since(start).Round(time.Second), sum.Steps, sum.Requests, sum.Crashes, sum.Restored, sum.Named, sum.LeftOut, sum.Held, sum.Pictures)
	for _, l := range slices.Sorted(maps.Keys(sum.Told)) {
		t.Logf("%-9s %d", l, sum.Told[l])
	}
}

func (r *Report) add(o *Report) {
	r.Steps, r.Requests, r.Crashes, r.Restored, r.Named = r.Steps+o.Steps, r.Requests+o.Requests, r.Crashes+o.Crashes, r.Restored+o.Restored, r.Named+o.Named
	r.LeftOut += o.LeftOut
	r.Held, r.Pictures = r.Held+o.Held, r.Pictures+o.Pictures
	for l, n := range o.Told {
		r.Told[l] += n
	}
}
