package recallcmd

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Visits, photos, pauses and losses are shown at their time in the day.
func TestShowDay(t *testing.T) {
	at := func(h, m int) time.Time { return time.Date(2026, 3, 2, h, m, 0, 0, time.UTC) }
	of := func(id byte, kind memory.Type, text string, when time.Time) memory.Memory {
		return memory.Memory{ID: memory.ID{id}, State: memory.Active, Candidate: memory.Candidate{Type: kind, Text: text, Evidence: []memory.Evidence{{At: when}}}}
	}
	visit := of(1, memory.Episodic, "Maja arrived", at(8, 30))
	visit.Tags, visit.Fields.Episodic = []string{"visit"}, &memory.EpisodicFields{EventType: "visit", Place: "the office", Started: at(8, 30)}
	key := of(2, memory.Semantic, "The key is under the pot.", at(9, 0))
	d := serve.Day{Date: "2026-03-02", From: at(0, 0), To: at(24, 0),
		Lines:    []serve.DayLine{{ID: memory.ID{9}, At: at(9, 0), Session: "s", Speaker: "Anna", Text: "The key is under the\x1b[31m pot", Place: "the office", Memories: []memory.ID{key.ID}}},
		Memories: []memory.Memory{visit, key, of(3, memory.Resource, "Photo, sharp", at(10, 0))},
		Refusals: []serve.DayRefusal{{At: at(11, 0), Kind: "gap", Reason: "3 events of pin"}, {At: at(11, 5), Kind: "nothing", Reason: "hm"}},
		Pauses:   []serve.Span{{From: at(12, 0), To: at(13, 0), Why: "said to pin"}}}
	var out bytes.Buffer
	a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}
	showDay(a, &out, &d)
	const want = `08:30  @ the office
Mon 2 Mar 2026 09:00–09:00  Anna  the office
  09:00  Anna: The key is under the[31m pot
         → 0800000000 semantic  The key is under the pot.
10:00  0c00000000 resource  Photo, sharp
11:00  lost: 3 events of pin
12:00  paused until 13:00, said to pin
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// A line whose speaker is not known has no label. So it is until a voice is enrolled.
func TestLineWithoutASpeaker(t *testing.T) {
	var out strings.Builder
	showLine(&cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}, &out, &serve.DayLine{At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), Text: "The key is under the pot."}, nil)
	if want := "  09:00  The key is under the pot.\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// The output says when a day is longer than one answer can be.
func TestTalkSaysWhatIsLeftOut(t *testing.T) {
	at := func(d int) time.Time { return time.Date(2026, 3, d, 9, 0, 0, 0, time.UTC) }
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var body any = serve.DaysAnswer{Days: []serve.DayCount{{Date: "2026-03-02", Lines: serve.MaxDayLines + 1}, {Date: "2026-03-03", Lines: 1}}}
		if date := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]; strings.HasPrefix(date, "2026") {
			body = serve.Day{Date: serve.Date(date), More: date == "2026-03-02",
				Lines: []serve.DayLine{{At: at(2), Session: date, Speaker: "Anna", Text: "Morning."}}}
		}
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}))
	defer node.Close()
	var out bytes.Buffer
	a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}, Stderr: &out}
	list, err := sessionsIn(a, t.Context(), serve.Dial("tcp", node.Listener.Addr().String(), ""), at(1), at(4), "")
	if err != nil || len(list) != 2 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	if want := "More than 20000 lines were said on 2026-03-02; the later ones are left out.\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// A memory that quotes two lines is shown below the last of them, and the words of a line are shown
// once.
func TestLineIsShownOnce(t *testing.T) {
	room, said := memory.ID{1}, memory.ID{2}
	lines := []serve.DayLine{{Text: "My appointment is in room 4.", Memories: []memory.ID{room}}, {Text: "No, room 6.", Memories: []memory.ID{room}}, {Text: "The tide is high", Memories: []memory.ID{said}}}
	s := talkSession{Lines: lines, Memories: []memory.Memory{{ID: room, Candidate: memory.Candidate{Type: memory.Semantic, Text: "Maja's appointment is in room 6."}},
		{ID: said, Candidate: memory.Candidate{Type: memory.Semantic, Text: "The tide is high."}}}}
	var out strings.Builder
	showSessions((&cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}), []talkSession{s})(&out, &s)
	if text := out.String(); strings.Count(text, "appointment is in room 6.") != 1 || strings.Index(text, "in room 6.") < strings.Index(text, "No, room 6.") || strings.Count(text, "tide is high") != 1 {
		t.Error(text)
	}
}

// In a day, a memory that quotes lines of two sessions is shown below the last of them.
func TestDayShowsAMemoryOnce(t *testing.T) {
	at := func(h int) time.Time { return time.Date(2026, 3, 2, h, 0, 0, 0, time.UTC) }
	room := memory.ID{1}
	d := serve.Day{Date: "2026-03-02", From: at(0), To: at(24),
		Lines: []serve.DayLine{{At: at(9), Session: "a", Text: "My appointment is in room 4.", Memories: []memory.ID{room}},
			{At: at(15), Session: "b", Text: "No, room 6.", Memories: []memory.ID{room}}},
		Memories: []memory.Memory{{ID: room, Candidate: memory.Candidate{Type: memory.Semantic, Text: "Maja's appointment is in room 6."}}}}
	var out strings.Builder
	showDay((&cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}), &out, &d)
	if text := out.String(); strings.Count(text, "appointment is in room 6.") != 1 || strings.Index(text, "in room 6.") < strings.Index(text, "No, room 6.") {
		t.Error(text)
	}
}

// In talk, too, a memory is shown below the last line that it quotes in all sessions, and a memory
// that was only said again is shown once.
func TestTalkShowsAMemoryOnce(t *testing.T) {
	home, twin := memory.ID{1}, memory.ID{2}
	known := []memory.Memory{{ID: home, Candidate: memory.Candidate{Type: memory.Semantic, Text: "Maja lives in Oslo."}, State: memory.Active},
		{ID: twin, Candidate: memory.Candidate{Type: memory.Semantic, Text: "Maja lives in Oslo."}, State: memory.Superseded}}
	list := []talkSession{{Session: "a", Lines: []serve.DayLine{{Text: "I live in Oslo.", Memories: []memory.ID{home}}}, Memories: known[:1]},
		{Session: "b", Lines: []serve.DayLine{{Text: "As I said, I live in Oslo.", Memories: []memory.ID{home, twin}}}, Memories: known}}
	var out strings.Builder
	show := showSessions((&cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}), list)
	for i := range list {
		show(&out, &list[i])
	}
	if text := out.String(); strings.Count(text, "lives in Oslo.") != 1 || strings.Index(text, "lives in Oslo.") < strings.Index(text, "As I said") || strings.Contains(text, "superseded") {
		t.Error(text)
	}
}
