package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// recallRun is the result of one engine at one size, in a separate process.
type recallRun struct {
	Engine  string             `json:"engine"`
	N       int                `json:"n"`
	Recall  float64            `json:"recall"` // @10, per cent
	ByWay   map[string]float64 `json:"by_way"`
	P50     float64            `json:"p50_ms"`
	P99     float64            `json:"p99_ms"`
	QPS     float64            `json:"queries_per_s"`
	Build   float64            `json:"build_s"`
	Open    float64            `json:"open_s"`
	Bytes   int64              `json:"bytes"`
	Idle    float64            `json:"idle_mb"` // opened, nothing asked
	Hot     float64            `json:"hot_mb"`  // after all questions
	Queries int                `json:"queries"`
}

// recallParts is what the suite measures, in this order.
var recallParts = []string{"speed", "chinese", "few", "node"}

func runRecall(ctx context.Context, f *frame) error {
	parts := f.String("parts", strings.Join(recallParts, ","), "speed: beside other engines; chinese: the labelled set; few: homes of a dozen lines; node: a whole node, quiet and with live audio")
	lines := f.Int("lines", 100_000, "how many lines the whole node is told")
	seconds := f.Int("seconds", 40, "how long the whole node is asked, quiet and with live audio")
	sizes := f.String("sizes", "1000,10000,100000", "numbers of lines; 1000000 takes some minutes")
	only := f.String("engines", strings.Join(finders, ","), "which engines")
	over := f.String("engines-over", "locket,bleve", "which of them over more than 100,000 lines: the others answer in seconds there")
	questions := f.Int("questions", 1000, "how many questions to ask each engine")
	seed := f.Uint64("seed", 1, "of the generator")
	rest := f.Duration("rest", 90*time.Second, "how long the whole node has nothing to do in between")
	plot := f.String("plot", "", "write the growth of p99 to `FILE.svg`, with its data")
	dictionary := f.String("dictionary", "", "part chinese: beside it, with this `FILE` as recall.dictionary")
	cache := cacheFlag(f.FlagSet)
	child := f.String("child", "", "for the suite itself: build, ask or open, in this process")
	dir := f.String("dir", "", "for the suite itself: the engine's folder")
	if !f.parsed() {
		return errUsage
	}
	ns, err := numbers(*sizes)
	engines := strings.Split(*only, ",")
	if err != nil || f.NArg() > 0 || *questions < 1 || *lines < 2 || *seconds < 1 {
		return f.usage("--sizes takes numbers with commas between, --questions, --lines and --seconds one above 0")
	}
	asked := strings.Split(*parts, ",")
	for _, p := range asked {
		if !slices.Contains(recallParts, p) {
			return f.usage("there is no part %q", p)
		}
	}
	if *child != "" {
		return recallChild(ctx, *child, engines[0], *dir, *seed, ns[0], *questions, f.stdout)
	}
	for _, p := range recallParts {
		if !slices.Contains(asked, p) {
			continue
		}
		var results []result
		var err error
		switch p {
		case "speed":
			results, err = recallSpeed(ctx, ns, engines, strings.Split(*over, ","), *seed, *questions, *plot, *f.json, f.stdout, f.stderr)
		case "chinese":
			err = withCache(*cache, func(dir string) (err error) {
				results, err = recallChinese(ctx, dir, *dictionary)
				return err
			})
		case "few":
			err = withCache(*cache, func(dir string) (err error) {
				results, err = recallFew(ctx, dir)
				return err
			})
		case "node":
			err = withCache(*cache, func(dir string) (err error) {
				results, err = recallNode(ctx, watch{dir, *lines, *seconds, *rest, *seed, f.stderr})
				return err
			})
		}
		if err = errors.Join(err, f.print(results, nil)); err != nil {
			return err
		}
	}
	return nil
}

// recallSpeed runs every engine at every size.
func recallSpeed(ctx context.Context, ns []int, engines, over []string, seed uint64, questions int, plot string, asJSON bool, stdout, stderr io.Writer) ([]result, error) {
	var runs []recallRun
	for _, n := range ns {
		for _, e := range engines {
			if n > usual && !slices.Contains(over, e) {
				continue
			}
			r, err := recallApart(ctx, e, seed, n, questions, stderr)
			if err != nil {
				return nil, fmt.Errorf("%s at %d: %w", e, n, err)
			}
			runs = append(runs, r)
			if !asJSON {
				fmt.Fprintf(stderr, "%s at %d: done\n", e, n)
			}
		}
	}
	if plot != "" {
		if err := plotRuns(plot, runs); err != nil {
			return nil, err
		}
	}
	if !asJSON {
		if err := recallTable(stdout, runs); err != nil {
			return nil, err
		}
	}
	return recallResults(runs), nil
}

// recallApart runs one engine in separate processes, on one core: one that builds, and one that
// opens what was built and answers.
func recallApart(ctx context.Context, engine string, seed uint64, n, questions int, stderr io.Writer) (recallRun, error) {
	var r recallRun
	dir, err := os.MkdirTemp("", "locket-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	opened := math.Inf(1)
	for _, part := range []string{"build", "ask", "open", "open"} {
		cmd := exec.CommandContext(ctx, self, "recall", "--child", part, "--engines", engine, "--dir", dir, "--sizes", strconv.Itoa(n),
			"--questions", strconv.Itoa(questions), "--seed", strconv.FormatUint(seed, 10))
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		cmd.Stderr = stderr
		out, err := cmd.Output()
		if err != nil {
			return r, fmt.Errorf("%s: %w", part, err)
		}
		if err := json.Unmarshal(out, &r); err != nil {
			return r, fmt.Errorf("%s: %w", part, err)
		}
		if part != "build" {
			opened = min(opened, r.Open)
		}
	}
	r.Open = opened // the fastest of three new processes
	return r, nil
}

// recallChild is one of those processes; it prints the fields that it measured.
func recallChild(ctx context.Context, part, engine, dir string, seed uint64, n, questions int, stdout io.Writer) error {
	f, err := newFinder(engine, dir)
	if err != nil {
		return err
	}
	out := map[string]any{"engine": engine, "n": n}
	memory := engine == "chromem" // it is built in the process that asks
	if part == "build" && !memory || part == "ask" && memory {
		c := generate(seed, n, questions)
		begin := time.Now()
		if err := f.build(ctx, c.lines); err != nil {
			return err
		}
		out["build_s"] = time.Since(begin).Seconds()
		if part == "build" {
			if err := f.close(); err != nil {
				return err
			}
			if out["bytes"], err = folderBytes(dir); err != nil {
				return err
			}
		}
	}
	if part != "build" {
		if !memory {
			begin := time.Now()
			if err := f.open(ctx); err != nil {
				return err
			}
			if _, err := f.find(ctx, "good morning", 10); err != nil {
				return err
			}
			out["open_s"] = time.Since(begin).Seconds()
		}
		if part == "open" {
			return errors.Join(f.close(), json.NewEncoder(stdout).Encode(out))
		}
		debug.FreeOSMemory()
		out["idle_mb"] = resident()
		if err := recallAsk(ctx, f, seed, n, questions, out); err != nil {
			return err
		}
		if err := f.close(); err != nil {
			return err
		}
	}
	return json.NewEncoder(stdout).Encode(out)
}

// Each question is asked this many times, round after round, and its fastest answer counts, because
// other work of the machine is not the engine's. This holds for all engines. The first round warms
// up.
const askRounds = 4

// recallAsk asks every question; rounds stop after two minutes.
func recallAsk(ctx context.Context, f finder, seed uint64, n, questions int, out map[string]any) error {
	queries := generate(seed, n, questions).queries
	debug.FreeOSMemory() // the lines are the generator's, not the engine's
	begun := time.Now()
	took := make([]float64, 0, len(queries))
	found, asked := map[string]float64{}, map[string]float64{}
	hits := 0
	for round := range askRounds {
		for i, q := range queries {
			if time.Since(begun) > 2*time.Minute && (round > 0 || i > 50) {
				break
			}
			begin := time.Now()
			got, err := f.find(ctx, q.text, 10)
			ms := float64(time.Since(begin)) / float64(time.Millisecond)
			if err != nil {
				return err
			}
			if round > 0 {
				if i < len(took) {
					took[i] = min(took[i], ms)
				}
				continue
			}
			took = append(took, ms)
			asked[q.way]++
			if slices.Contains(got, q.want) {
				found[q.way]++
				hits++
			}
		}
	}
	sum := 0.0
	for _, t := range took {
		sum += t
	}
	way := map[string]float64{}
	for w, n := range asked {
		way[w] = round(100 * found[w] / n)
	}
	out["by_way"], out["queries"] = way, len(took)
	out["recall"] = round(100 * float64(hits) / float64(len(took)))
	out["p50_ms"], out["p99_ms"] = percentile(took, 50), percentile(took, 99)
	out["queries_per_s"] = round(1000 * float64(len(took)) / sum)
	queries = nil
	out["hot_mb"] = resident()
	runtime.KeepAlive(f)
	return nil
}

// usual is the largest number of lines for which every engine is measured.
const usual = 100_000

// recallResults returns the cases for Locket at the largest usual size and above, compared with the
// fastest peer of at least equal recall. If there is none, they are compared with the fastest of
// all, and the note says so.
func recallResults(runs []recallRun) []result {
	var own *recallRun
	var out []result
	for i := range runs {
		switch {
		case runs[i].Engine != "locket":
		case runs[i].N <= usual:
			own = &runs[i]
		default:
			out = append(out, sizeResults(runs, &runs[i])...)
		}
	}
	if own == nil {
		return out
	}
	return append(sizeResults(runs, own), out...)
}

// sizeResults are those of one size.
func sizeResults(runs []recallRun, own *recallRun) (out []result) {
	label := sizeLabel(own.N)
	peer, note := fastestPeer(runs, own)
	add := func(name string, value float64, unit string, of func(*recallRun) float64, more bool) {
		r := result{Suite: "recall", Case: name, N: own.N, Value: value, Unit: unit}
		if peer != nil {
			if r = r.beside(peer.Engine, of(peer), more); r.Peer != "" {
				r.Note = note
			}
		}
		out = append(out, r)
	}
	add("hybrid_p99_"+label, own.P99, "ms", func(p *recallRun) float64 { return p.P99 }, false)
	add("hybrid_p50_"+label, own.P50, "ms", func(p *recallRun) float64 { return p.P50 }, false)
	add("queries_per_s_"+label, own.QPS, "1/s", func(p *recallRun) float64 { return p.QPS }, true)
	add("recall_at_10_"+label, own.Recall, "%", func(p *recallRun) float64 { return p.Recall }, true)
	add("index_rss_idle"+map[bool]string{true: "_" + label}[own.N > usual], own.Idle, "MB", func(p *recallRun) float64 { return p.Idle }, false)
	add("index_rss_"+label, own.Hot, "MB", func(p *recallRun) float64 { return p.Hot }, false)
	add("cold_start_"+label, own.Open, "s", func(p *recallRun) float64 { return p.Open }, false)
	add("build_"+label, own.Build, "s", func(p *recallRun) float64 { return p.Build }, false)
	add("index_bytes_"+label, float64(own.Bytes), "B", func(p *recallRun) float64 { return float64(p.Bytes) }, false)
	return out
}

func sizeLabel(n int) string {
	if n%1_000_000 == 0 {
		return strconv.Itoa(n/1_000_000) + "m"
	}
	if n%1000 == 0 {
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

func fastestPeer(runs []recallRun, own *recallRun) (*recallRun, string) {
	var equal, any *recallRun
	for i := range runs {
		p := &runs[i]
		if p.Engine == "locket" || p.N != own.N {
			continue
		}
		if any == nil || p.P99 < any.P99 {
			any = p
		}
		if p.Recall >= own.Recall && (equal == nil || p.P99 < equal.P99) {
			equal = p
		}
	}
	if equal != nil {
		return equal, ""
	}
	if any == nil {
		return nil, ""
	}
	return any, fmt.Sprintf("no peer has equal recall: the fastest, at %.1f %% against %.1f %%", any.Recall, own.Recall)
}

func recallTable(w io.Writer, runs []recallRun) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "lines\tengine\trecall@10\tdirect\tinflected\ttypo\treply\tp50 ms\tp99 ms\tqueries/s\tbuild s\topen s\tMB on disk\tMB idle\tMB hot\t")
	for _, r := range runs {
		fmt.Fprintf(t, "%d\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.3f\t%.3f\t%.0f\t%.2f\t%.3f\t%.1f\t%.0f\t%.0f\t\n", r.N, r.Engine, r.Recall,
			r.ByWay["direct"], r.ByWay["inflected"], r.ByWay["typo"], r.ByWay["reply"], r.P50, r.P99, r.QPS, r.Build, r.Open, float64(r.Bytes)/1e6, r.Idle, r.Hot)
	}
	return t.Flush()
}
