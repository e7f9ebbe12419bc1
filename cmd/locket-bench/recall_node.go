package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/locket-dev/locket/node/intake/wire"
)

// pace is the time from one search to the next while a node is measured. An assistant that looks
// something up after each sentence searches no faster.
const pace = 25 * time.Millisecond

// whoseQuestions ask for something of the wearer or of a named person. For these a search reads the
// owner of each document that may answer.
var whoseQuestions = []string{"Where do I live?", "Who is my doctor?", "What is my job?", "Am I allergic to cats?", "Where does Anna live?", "When is my birthday?",
	"我住在哪里？", "我的医生是谁？", "我喜欢吃什么？", "我对猫过敏吗？"}

// watch says how long to ask a node, while it is quiet and while it receives audio.
type watch struct {
	cache   string
	n       int           // lines in the node
	seconds int           // of each
	rest    time.Duration // from the last line to the first search: a node frees memory once a minute while it is quiet
	seed    uint64
	stderr  io.Writer
}

// recallNode fills a whole node over MQTT, and measures its memory and how long its callers wait,
// both while it is quiet and while it receives live audio in the same process: broker, journal,
// speech plugin and commits.
func recallNode(ctx context.Context, w watch) (out []result, err error) {
	h, err := startApart(ctx, "node", w.cache, w.stderr)
	if err == nil {
		err = h.close() // the plugins are compiled now: only a first start does that
	}
	if err != nil {
		return nil, err
	}
	if h, err = startApart(ctx, "node", w.cache, w.stderr); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	device, err := h.carryOut(order{Do: "device"})
	if err != nil {
		return nil, err
	}
	idle, err := h.carryOut(order{Do: "usage"})
	if err != nil {
		return nil, err
	}
	asks := w.seconds * int(time.Second/pace)
	c := generate(w.seed, w.n, asks)
	last := c.lines[len(c.lines)-1].at
	begin := time.Now()
	if err := publishLines(ctx, device, c.lines); err != nil {
		return nil, err
	}
	if _, err := h.carryOut(order{Do: "quiet"}); err != nil {
		return nil, err
	}
	filled := time.Since(begin)

	search := order{Do: "search", At: last.Add(24 * time.Hour)}
	for _, q := range c.queries {
		search.Texts = append(search.Texts, q.text)
	}
	fed, err := h.carryOut(order{Do: "usage"})
	if err != nil {
		return nil, err
	}
	rest := time.NewTimer(w.rest)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	calm, err := h.carryOut(order{Do: "usage"})
	if err != nil {
		return nil, err
	}
	if _, err := h.carryOut(search); err != nil { // everything hot
		return nil, err
	}
	search.Every = pace
	quiet, err := h.carryOut(search)
	if err != nil {
		return nil, err
	}
	whose, err := h.carryOut(order{Do: "search", At: search.At, Texts: slices.Repeat(whoseQuestions, 20), Every: pace})
	if err != nil {
		return nil, err
	}
	hot, err := h.carryOut(order{Do: "usage"})
	if err != nil {
		return nil, err
	}
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- speak(live, device, last.Add(48*time.Hour), w.seconds) }()
	busy, err := h.carryOut(search)
	cancel()
	if e := <-ended; err == nil && !errors.Is(e, context.Canceled) {
		err = e
	}
	if err != nil {
		return nil, err
	}
	if busy.Found == 0 || quiet.Found == 0 {
		return nil, errors.New("the node found nothing of what it was told")
	}
	label := sizeLabel(w.n)
	add := func(name string, value float64, unit, note string) *result {
		out = append(out, result{Suite: "recall", Case: name, N: w.n, Value: value, Unit: unit, Note: note})
		return &out[len(out)-1]
	}
	add("rss_idle", idle.Resident, "MB", "the whole node, started, nothing told; "+idle.residents())
	add("rss_"+label, hot.Resident, "MB", "the whole node, after "+strconv.Itoa(2*asks)+" searches; "+hot.residents())
	add("rss_"+label+"_quiet", calm.Resident, "MB", "the whole node, "+w.rest.String()+" after the last line; "+calm.residents())
	add("rss_"+label+"_fed", fed.Resident, "MB", "the whole node, at the last line; "+fed.residents())
	add("node_p50_"+label, percentile(quiet.Took, 50), "ms", "as callers wait, quiet")
	r := add("node_whose_p50_"+label, percentile(whose.Took, 50), "ms", "questions for what is the wearer's or another's, quiet, beside the others")
	*r = r.beside("quiet", percentile(quiet.Took, 50), false)
	add("node_feed_"+label, round(float64(w.n)/filled.Seconds()), "1/s", "publish to searchable")
	r = add("recall_p99_during_audio", percentile(busy.Took, 99), "ms", fmt.Sprintf("%d searches, one each %v, while a device speaks for %d s", len(busy.Took), pace, w.seconds))
	*r = r.beside("quiet", percentile(quiet.Took, 99), false)
	return out, nil
}

// publishLines publishes lines as text.
func publishLines(ctx context.Context, to report, lines []line) error {
	messages := make([]wire.Message, len(lines))
	for i, l := range lines {
		messages[i] = &wire.Words{Header: wire.Header{At: l.at, Zone: "UTC"}, Text: l.text, Speaker: l.speaker}
	}
	_, err := flood(ctx, to, 1, 64, messages)
	return err
}

// speak publishes speech in real time, one part a second, until ctx or the given time ends.
func speak(ctx context.Context, to report, from time.Time, seconds int) error {
	messages, err := sound(seconds+1, from)
	if err != nil {
		return err
	}
	t := time.NewTicker(time.Second)
	defer t.Stop()
	return publish(ctx, to, 2, 64, messages, func() error {
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}
