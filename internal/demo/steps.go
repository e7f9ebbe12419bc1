package demo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/player"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
)

var kindWords = []struct {
	kind      memory.Kind
	one, many string
}{
	{memory.KindText, "line of talk", "lines of talk"},
	{memory.KindAudio, "piece of sound", "pieces of sound"},
	{memory.KindPhoto, "photo", "photos"},
	{memory.KindLocation, "location", "locations"},
	{memory.KindSensor, "sensor reading", "sensor readings"},
	{memory.KindButton, "button press", "button presses"},
	{memory.KindGap, "loss reported", "losses reported"},
}

func (r *run) arrived(rep player.Report, acked, worked time.Duration) error {
	var kinds []string
	for _, k := range kindWords {
		if n := rep.ByKind[k.kind]; n > 0 {
			kinds = append(kinds, plural(n, k.one, k.many))
		}
	}
	heading := fmt.Sprintf("What arrived: the %s of %s", r.date(), r.day.Wearer)
	return r.say.step("arrived", heading, struct {
		player.Report
		Wearer        string  `json:"wearer"`
		Date          string  `json:"date"`
		AckedSeconds  float64 `json:"acked_s"`
		WorkedSeconds float64 `json:"worked_s"`
	}{rep, r.day.Wearer, r.day.Date, acked.Seconds(), worked.Seconds()},
		fmt.Sprintf("%d events from %s, over MQTT, each acknowledged once it was on disk:", rep.Acked, strings.Join(r.day.Devices(), " and ")),
		strings.Join(kinds, ", ")+".",
		fmt.Sprintf("%.1f s until the last was acknowledged, %.1f s until all was worked through.", acked.Seconds(), worked.Seconds()))
}

// example is one memory or refusal, as shown in a step.
type example struct {
	Type memory.Type `json:"type,omitempty"`
	Kind string      `json:"kind,omitempty"`
	ID   string      `json:"id,omitempty"`
	Text string      `json:"text"`
}

func (r *run) remembered(ctx context.Context, n *node.Node) error {
	by := map[memory.Type][]memory.Memory{}
	for q := (serve.ListQuery{Limit: serve.MaxPage}); ; {
		page, err := n.List(ctx, q)
		if err != nil {
			return err
		}
		for _, m := range page.Memories {
			by[m.Type] = append(by[m.Type], m)
		}
		if q.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	counts := map[memory.Type]int{}
	var examples []example
	var lines []string
	for _, t := range memory.Types {
		ms := by[t]
		counts[t] = len(ms)
		if len(ms) == 0 {
			continue
		}
		sorting.Stable(ms, func(a, b memory.Memory) int { return cmp.Compare(b.Confidence, a.Confidence) })
		lines = append(lines, fmt.Sprintf("%-11s %3d  such as: %s", t, len(ms), short(ms[0].Text, 76)))
		for _, m := range ms[:min(2, len(ms))] {
			examples = append(examples, example{Type: t, ID: m.ID.String(), Text: m.Text})
		}
		if len(ms) > 1 {
			lines = append(lines, fmt.Sprintf("%-11s      %s", "", "         "+short(ms[1].Text, 76)))
		}
	}
	return r.say.step("remembered", "What was remembered, by type", struct {
		ByType   map[memory.Type]int `json:"by_type"`
		Examples []example           `json:"examples"`
	}{counts, examples}, lines...)
}

func (r *run) refused(ctx context.Context, n *node.Node) error {
	all, err := n.Refusals(ctx, 10_000)
	if err != nil {
		return err
	}
	by := map[string][]serve.RefusedLine{}
	for _, f := range all {
		by[f.Kind] = append(by[f.Kind], f)
	}
	kinds := sorting.Sorted(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), cmp.Compare(a, b)) })
	counts := map[string]int{}
	var examples []example
	var lines []string
	for _, k := range kinds {
		f := by[k][len(by[k])-1]
		counts[k] = len(by[k])
		said := ""
		if line, ok := r.day.LineOf(f.Event); ok {
			if l, ok := r.day.Line(line); ok && l.Text != "" {
				said = fmt.Sprintf("%q: ", short(l.Text, 40))
			}
		}
		examples = append(examples, example{Kind: k, Text: said + f.Reason})
		lines = append(lines, fmt.Sprintf("%-11s %3d  such as: %s%s", k, len(by[k]), said, short(f.Reason, 80)))
	}
	return r.say.step("refused", "What was refused, and why", struct {
		ByKind   map[string]int `json:"by_kind"`
		Examples []example      `json:"examples"`
	}{counts, examples}, lines...)
}

func (r *run) secrets(ctx context.Context, n *node.Node) error {
	type entry struct {
		ID    string `json:"id"`
		Label string `json:"label"`
		Heard string `json:"heard"`
	}
	var entries []entry
	var lines []string
	page, err := n.List(ctx, serve.ListQuery{Type: memory.Vault, Limit: serve.MaxPage})
	if err != nil {
		return err
	}
	for _, m := range page.Memories {
		e := entry{ID: m.ID.String(), Label: m.Fields.Vault.Label}
		if len(m.Evidence) > 0 {
			e.Heard = m.Evidence[0].Excerpt
		}
		entries = append(entries, e)
		lines = append(lines, fmt.Sprintf("%s %q: in the vault, sealed.", m.Fields.Vault.EntryType, short(e.Label, 40)), fmt.Sprintf("  What is left of what was said: %q", short(e.Heard, 90)))
	}
	return r.say.step("secret", "Where the secrets went", struct {
		Vault []entry `json:"vault"`
	}{entries}, lines...)
}

// asked is how many of the day's questions the demo shows.
const asked = 3

func (r *run) questions(ctx context.Context, n *node.Node) error {
	type answer struct {
		Question   string             `json:"question"`
		Known      bool               `json:"known"`
		Confidence float64            `json:"confidence"`
		Answer     string             `json:"answer,omitempty"`
		ID         string             `json:"id,omitempty"`
		Score      float64            `json:"score"`
		Parts      map[string]float64 `json:"parts"`
		Evidence   []memory.Evidence  `json:"evidence"`
		Millis     float64            `json:"ms"`
	}
	var answers []answer
	var lines []string
	for _, q := range r.day.Expect.Questions[:min(asked, len(r.day.Expect.Questions))] {
		began := time.Now()
		res, err := n.Search(ctx, serve.SearchRequest{Query: q.Question, K: 1})
		if err != nil {
			return err
		}
		a := answer{Question: q.Question, Known: res.Known, Confidence: res.Confidence, Millis: float64(time.Since(began).Microseconds()) / 1000}
		lines = append(lines, q.Question)
		if len(res.Hits) > 0 {
			h := res.Hits[0]
			a.Answer, a.ID, a.Score, a.Parts, a.Evidence = h.Text, h.ID.String(), h.Score, h.Parts, h.Evidence
			lines = append(lines, "  → "+short(h.Text, 100))
			for _, e := range h.Evidence[:min(1, len(h.Evidence))] {
				lines = append(lines, fmt.Sprintf("    heard: %q, %s, %s", short(e.Excerpt, 70), e.Speaker, r.clock(e.At)))
			}
			lines = append(lines, fmt.Sprintf("    score %.2f = %s; confidence %.2f; %.1f ms", h.Score, sum(h.Parts), res.Confidence, a.Millis))
		} else {
			lines = append(lines, "  → I don't know.")
		}
		answers = append(answers, a)
	}
	return r.say.step("questions", "Three questions, in the evening", struct {
		Answers []answer `json:"answers"`
	}{answers}, lines...)
}

func (r *run) date() string {
	t, err := time.Parse("2006-01-02", r.day.Date)
	if err != nil {
		return r.day.Date
	}
	return t.Format("2 January 2006")
}

func (r *run) clock(t time.Time) string {
	if z, err := r.day.Location(); err == nil {
		t = t.In(z)
	}
	return t.Format("15:04")
}

// sum formats a score's parts, largest first.
func sum(parts map[string]float64) string {
	names := sorting.Sorted(maps.Keys(parts), func(a, b string) int { return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a, b)) })
	var s []string
	for _, n := range names {
		if v := parts[n]; v >= 0.005 || v <= -0.005 {
			s = append(s, fmt.Sprintf("%s %.2f", n, v))
		}
	}
	return strings.Join(s, " + ")
}

func (r *run) memory(ctx context.Context, n *node.Node) error {
	s, err := n.Status(ctx)
	if err != nil {
		return err
	}
	return r.say.step("memory", "What the node uses", struct {
		RSSBytes  int64 `json:"rss_bytes"`
		HeapBytes int64 `json:"heap_bytes"`
		DiskBytes int64 `json:"disk_bytes"`
	}{s.RSSBytes, s.HeapBytes, s.Disk.Used},
		fmt.Sprintf("%d MB resident, of which %d MB is the Go heap, broker, node and wearables together; %d MB on disk.", s.RSSBytes>>20, s.HeapBytes>>20, s.Disk.Used>>20))
}

func (r *run) verdict(wrong []string, took time.Duration) error {
	ok := len(wrong) == 0
	if wrong == nil {
		wrong = []string{}
	}
	lines := wrong
	heading := "Not everything came out as it should"
	if ok {
		heading = "Everything came out as it should"
		lines = []string{
			fmt.Sprintf("%d questions have their evidence, what changed is current and what it replaced is past,", len(r.day.Expect.Questions)),
			fmt.Sprintf("and %s stand in the vault and nowhere else: not in a memory, an excerpt, an export or the log.", plural(len(r.day.Expect.Secrets), "secret", "secrets")),
		}
	}
	err := r.say.step("verdict", heading, struct {
		OK      bool     `json:"ok"`
		Wrong   []string `json:"wrong"`
		Seconds float64  `json:"seconds"`
	}{ok, wrong, took.Seconds()}, lines...)
	if err == nil && !ok {
		err = ErrWrong
	}
	return err
}
