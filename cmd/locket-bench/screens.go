package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/locket-dev/locket/cloud/worker"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	documents "github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
)

// The screens suite draws invented screens in Chromium, lets a worker read them with Tesseract in a
// space of its own, and asks one question about each. The owner's index over what the worker said
// answers, so only the print in the pictures can be found.

func runScreens(ctx context.Context, f *frame) error {
	n := f.Int("screens", 200, "how many screens, of five kinds")
	seed := f.Uint64("seed", 1, "of what is on them")
	chromium := f.String("chromium", "chromium", "the browser's `program`")
	quality := f.Int("quality", 80, "of the pictures, as JPEG, 1 to 100")
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() || f.NArg() > 0 || *n < 5 || *quality < 1 || *quality > 100 {
		return f.usage("takes flags only, --screens a number from 5, and --quality one from 1 to 100")
	}
	path, err := exec.LookPath(*chromium)
	if err != nil {
		return fmt.Errorf("%w: install chromium, or say where it is with --chromium", err)
	}
	all := makeScreens(*n, *seed)
	began := time.Now()
	if err := drawScreens(ctx, path, *quality, all); err != nil {
		return err
	}
	fmt.Fprintf(f.stderr, "drawn in %s\n", time.Since(began).Round(time.Second))
	return withCache(*cache, func(dir string) error { return f.print(askScreens(ctx, dir, all)) })
}

// drawScreens fills in the pictures.
func drawScreens(ctx context.Context, program string, quality int, all []screen) error {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WSURLReadTimeout(time.Minute))
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	defer end()
	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Run(tab, chromedp.EmulateViewport(screenWidth, screenHeight), chromedp.Navigate("about:blank")); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	for i := range all {
		err := chromedp.Run(tab, chromedp.ActionFunc(func(ctx context.Context) error {
			tree, err := page.GetFrameTree().Do(ctx)
			if err == nil {
				err = page.SetDocumentContent(tree.Frame.ID, all[i].html).Do(ctx)
			}
			if err == nil {
				all[i].picture, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatJpeg).WithQuality(int64(quality)).Do(ctx)
			}
			return err
		}))
		if err != nil {
			return fmt.Errorf("screen %d: %w", i+1, err)
		}
	}
	return nil
}

// askScreens lets a worker read the pictures, and asks the questions.
func askScreens(ctx context.Context, cache string, all []screen) (out []result, err error) {
	g, err := newGrantees(ctx, cache)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.h.Close()) }()
	seen := 0
	for _, s := range all {
		seen += len(s.picture)
		if err := g.photo(ctx, s.picture); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	member, err := g.read(ctx, len(all))
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	stored, said, err := g.saidBy(ctx, member)
	if err != nil {
		return nil, err
	}
	x, err := recall.Open(ctx, memSegments{}, recall.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	of, printed, err := g.index(ctx, x)
	if err != nil {
		return nil, err
	}
	found, err := findScreens(ctx, x, all, of)
	if err != nil {
		return nil, err
	}
	add := func(name string, n int, value float64, unit, note string) {
		out = append(out, result{Suite: "screens", Case: name, N: n, Value: value, Unit: unit, Note: note})
	}
	read := 0
	for i := range all {
		if strings.Contains(unmarked(printed[uint64(i+1)]), unmarked(all[i].answer)) {
			read++
		}
	}
	for _, k := range append([]string{"all"}, screenKinds...) {
		at1, at5, n := 0, 0, 0
		for i := range all {
			if k != "all" && all[i].kind != k {
				continue
			}
			n++
			if found[i] == 1 {
				at1++
			}
			if found[i] > 0 && found[i] <= 5 {
				at5++
			}
		}
		if n == 0 {
			continue
		}
		add("evidence_at_1_"+k, n, share(at1, n), "%", "")
		add("evidence_at_5_"+k, n, share(at5, n), "%", "")
	}
	add("evidence_at_5_chance", len(all), share(min(5, len(all)), len(all)), "%", "five of the screens, taken blindly")
	add("answer_read", len(all), share(read, len(all)), "%", "screens of which the print that answers was read without a fault")
	add("stored_per_screen", len(all), round(float64(stored)/float64(len(all))), "B", fmt.Sprintf("%d assertions of the worker's; the pictures have %d B each, %.2f MB in all", said, seen/len(all), float64(seen)/1e6))
	add("stored_of_pictures", len(all), round(100*float64(stored)/float64(seen)), "%", "of the pictures' bytes")
	add("read_s_per_screen", len(all), round(took.Seconds()/float64(len(all))), "s", "with what else runs on the machine")
	return out, nil
}

// read grants access to a worker with Tesseract, lets it read all pictures, and fetches what it
// said.
func (g *grantees) read(ctx context.Context, pictures int) (member memory.MemberID, err error) {
	home, member, err := g.grantWorker(ctx, "reader")
	if err != nil {
		return member, err
	}
	c := worker.Config{Home: home, Cache: g.cache, Engines: worker.Engines{Speech: "none"}}
	w, stop, err := running(ctx, c)
	if err != nil {
		return member, err
	}
	err = jobsAre(ctx, w, func(jobs []queue.Job) bool {
		done := 0
		for i := range jobs {
			if jobs[i].State == queue.Done {
				done++
			}
		}
		return done == pictures && done == len(jobs)
	})
	if err = errors.Join(err, stop()); err != nil {
		return member, err
	}
	// What was said last went out with the last round of sync, or goes with the next.
	_, again, err := running(ctx, c)
	if err != nil {
		return member, err
	}
	err = errors.Join(g.owner.Sync(ctx), again())
	return member, errors.Join(err, g.owner.Sync(ctx))
}

// index adds the owner's memories to x, and returns the number of the screen of each memory, and
// the print of each screen.
func (g *grantees) index(ctx context.Context, x *recall.Index) (of map[memory.ID]uint64, printed map[uint64]string, err error) {
	of, printed = map[memory.ID]uint64{}, map[uint64]string{}
	err = g.owner.store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if len(m.Evidence) == 0 {
				continue
			}
			n := m.Evidence[0].Event.Seq
			docs := documents.Documents(m)
			for _, d := range docs {
				of[d.ID] = n
				printed[n] += " " + d.Text
			}
			if err := x.Add(docs...); err != nil {
				return err
			}
		}
		return nil
	})
	return of, printed, err
}

// findScreens asks the question about each screen, and returns the first place of the screen among
// the hits, counted from 1, or 0 if it is not among ten.
func findScreens(ctx context.Context, x *recall.Index, all []screen, of map[memory.ID]uint64) ([]int, error) {
	found := make([]int, len(all))
	for i := range all {
		res, err := x.Search(ctx, recall.Query{Text: all[i].question, K: 50, Now: screenDay, Wearer: "Mei"})
		if err != nil {
			return nil, err
		}
		seen := map[uint64]bool{}
		for _, h := range res.Hits {
			n := of[h.ID]
			if seen[n] {
				continue // another part of the same screen
			}
			seen[n] = true
			if n == uint64(i+1) {
				found[i] = len(seen)
				break
			}
			if len(seen) == 10 {
				break
			}
		}
	}
	return found, nil
}

// unmarked returns text in the form for comparison: without case, spaces and punctuation.
func unmarked(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') || strings.ContainsRune("，。：、？！　“”（）", r) {
			return -1
		}
		return r
	}, strings.ToLower(s))
}
