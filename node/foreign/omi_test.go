package foreign

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/omitest"
	"github.com/locket-dev/locket/memory"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cloud returns a server with more memories than a page holds, and three conversations.
func cloud(t *testing.T) *omitest.Cloud {
	c := omitest.New(t)
	for i := range 120 {
		c.Memories = append(c.Memories, omitest.Memory{ID: fmt.Sprintf("mem_%d", i), Content: fmt.Sprintf("Has seen city %d", i), Category: "interesting", Created: noon})
	}
	for range 60 { // more than a page that is counted, but not returned
		c.Conversations = append(c.Conversations, omitest.Conversation{Locked: true})
	}
	c.Conversations[3] = omitest.Conversation{ID: "conv_1", Title: "Lunch", Started: noon, Segments: []omitest.Segment{
		{Text: "I live in Ghent", User: true, Start: 1, End: 2}, {Text: "I live in Bruges", Person: "Tom", Speaker: 1, Start: 3, End: 4}, {Text: "Hello", Speaker: 2, Start: 5, End: 6}}}
	c.Conversations = append(c.Conversations, omitest.Conversation{ID: "conv_2", Started: noon, Segments: []omitest.Segment{{Text: "I have two cats", User: true}}})
	return c
}

// poll reads everything, and returns how long it was asked to wait.
func poll(t *testing.T, c *omitest.Cloud, key string) (r Result, waits []time.Duration, err error) {
	api := OmiAPI{URL: c.URL, Key: key, Wait: func(_ context.Context, d time.Duration) bool {
		waits = append(waits, d)
		return true
	}}
	r, err = api.Read(t.Context(), Options{Me: []string{"Ana"}})
	return r, waits, err
}

// All pages are read, even after one that is not full; it is kept who is who; and an item
// that comes twice, because a memory was added in between, is imported once.
func TestPollOmi(t *testing.T) {
	for _, user := range []string{"", "Ana"} {
		c := cloud(t)
		c.User = user
		c.Before = func(n int, _ http.ResponseWriter) bool {
			if n == 2 {
				c.Memories = slices.Insert(c.Memories, 0, omitest.Memory{ID: "mem_new", Content: "Has a new bike", Created: noon})
			}
			return false
		}
		r, waits, err := poll(t, c, omitest.Key)
		if err != nil || len(waits) > 0 || len(r.Skipped) > 0 {
			t.Fatalf("%v, %v, %+v", err, waits, r.Skipped)
		}
		// The new one came before what was read already, so the next read has it.
		if len(r.Adds) != 120+4 || r.Adds[119].Text != "Has seen city 119" || r.Adds[0].Metadata["omi_id"] != "mem_0" {
			t.Errorf("%d, %+v", len(r.Adds), r.Adds[119])
		}
		keys := map[string]bool{}
		for _, a := range r.Adds {
			keys[a.Key] = true
		}
		if len(keys) != len(r.Adds) {
			t.Errorf("%d keys of %d", len(keys), len(r.Adds))
		}
		said := r.Adds[120:]
		if said[0].Speaker != "" || said[1].Speaker != "Tom" || said[2].Speaker != "Speaker 2" || said[3].Text != "I have two cats" || !said[1].At.Equal(noon.Add(3*time.Second)) || said[0].Undated {
			t.Errorf("%+v", said)
		}
		again, _, err := poll(t, c, omitest.Key)
		if err != nil || len(again.Adds) != len(r.Adds)+1 || again.Adds[0].Text != "Has a new bike" || again.Adds[1].Key != r.Adds[0].Key {
			t.Errorf("again: %d, %v", len(again.Adds), err)
		}
	}
}

// Pages whose items Omi counts but does not return, has returned before, or returns without
// an id are not the end: what follows is read, and empty ones are reported. Only omiBarren
// such pages in a row are the end, even with a server that ignores the offset.
func TestPollOmiEmptyPages(t *testing.T) {
	c := omitest.New(t)
	add := func(n int, of omitest.Memory) {
		for range n * omiPage {
			c.Memories = append(c.Memories, of)
		}
	}
	add(1, omitest.Memory{Rejected: true})
	c.Memories = append(c.Memories, omitest.Memory{ID: "mem_1", Content: "Has a bike", Created: noon})
	add(4, omitest.Memory{Rejected: true})
	add(5, omitest.Memory{ID: "mem_1", Content: "Has a bike"})
	add(5, omitest.Memory{Content: "Has nothing"}) // and one without an id
	add(4, omitest.Memory{Rejected: true})
	c.Memories = append(c.Memories, omitest.Memory{ID: "mem_2", Content: strings.Repeat("é", 71), Created: noon, Locked: true})
	add(omiBarren+1, omitest.Memory{Rejected: true})
	c.Memories = append(c.Memories, omitest.Memory{ID: "mem_3", Content: "Has a boat"})
	for range (omiBarren - 1) * omiPage {
		c.Conversations = append(c.Conversations, omitest.Conversation{Locked: true})
	}
	c.Conversations = append(c.Conversations, omitest.Conversation{ID: "conv_1", Started: noon, Segments: []omitest.Segment{{Text: "I live in Ghent", User: true}}})
	r, _, err := poll(t, c, omitest.Key)
	if err != nil || len(r.Adds) != 3 || r.Adds[0].Text != "Has a bike" || r.Adds[1].Text != strings.Repeat("é", 70)+"..." || r.Adds[2].Text != "I live in Ghent" {
		t.Errorf("%v, %+v", err, r.Adds)
	}
	var named []string
	for _, s := range r.Skipped {
		if s.Reason != "it has no id" {
			named = append(named, s.Where+": "+s.Reason)
		}
	}
	const why = ": Omi counts the entries there, but does not return them"
	if want := []string{"memories: empty pages from offset 0 to 50" + why, "memories: empty pages from offset 100 to 250" + why,
		"memories: empty pages from offset 800 to 950" + why, "conversations: empty pages from offset 0 to 950" + why}; !slices.Equal(named, want) {
		t.Errorf("%q", named)
	}
	if none := len(r.Skipped) - len(named); none != 5*omiPage {
		t.Errorf("%d without an id", none)
	}

	same := omitest.New(t)
	same.Before = func(n int, w http.ResponseWriter) bool {
		_, _ = w.Write([]byte(`[{"id": "1", "content": "Has a bike"}]`)) // a failure is the client's error
		return true
	}
	if r, _, err := poll(t, same, omitest.Key); err != nil || len(r.Adds) != 2 || len(same.Asked()) != 2*(1+omiBarren) {
		t.Errorf("no offset: %v, %d, %d requests", err, len(r.Adds), len(same.Asked()))
	}
}

// The client waits for a limit as long as Omi says. A temporary error is retried, and a
// permanent one ends the read with what was read.
func TestPollOmiLimited(t *testing.T) {
	limit := func(header, value string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set(header, value)
			omitest.Refuse(w, http.StatusTooManyRequests, "Rate limit exceeded")
		}
	}
	broken := func(w http.ResponseWriter) { omitest.Refuse(w, http.StatusBadGateway, "later") }
	for name, c := range map[string]struct {
		times   int
		refuse  func(http.ResponseWriter)
		waits   int
		between [2]time.Duration
		err     string
	}{
		"a limit":                {1, limit("Retry-After", "17"), 1, [2]time.Duration{17 * time.Second, 17 * time.Second}, ""},
		"a limit by its end":     {1, limit("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(40*time.Second).Unix())), 1, [2]time.Duration{0, 40 * time.Second}, ""},
		"a limit, and no end":    {2, limit("X-Other", "1"), 2, [2]time.Duration{1, 2 * time.Second}, ""},
		"the day's limit":        {1, limit("Retry-After", "7200"), 0, [2]time.Duration{}, "Rate limit exceeded: run the command again later"},
		"a gateway, for a while": {4, broken, 4, [2]time.Duration{1, 8 * time.Second}, ""},
		"a gateway, for good":    {100, broken, 4, [2]time.Duration{1, 8 * time.Second}, "memories: " + "127.0.0.1"},
	} {
		s := cloud(t)
		s.Before = func(n int, w http.ResponseWriter) bool {
			if n < 2 || n >= 2+c.times {
				return false
			}
			c.refuse(w)
			return true
		}
		r, waits, err := poll(t, s, omitest.Key)
		if (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "again later")) {
			t.Errorf("%s: %v", name, err)
		}
		if want := map[bool]int{true: 124, false: 50}[c.err == ""]; len(r.Adds) != want {
			t.Errorf("%s: %d read, want %d", name, len(r.Adds), want)
		}
		if len(waits) != c.waits || c.waits > 0 && (slices.Min(waits) < c.between[0] || slices.Max(waits) > c.between[1]) {
			t.Errorf("%s: waits %v", name, waits)
		}
	}
}

// Keys that are unknown, or may not read everything or anything; invalid addresses; and
// answers that are not pages.
func TestPollOmiRefused(t *testing.T) {
	c := cloud(t)
	for _, key := range []string{"omi_dev_revoked", "", "two\nlines"} {
		r, waits, err := poll(t, c, key)
		if err == nil || len(r.Adds) > 0 || len(waits) > 0 || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", key, err)
		}
	}
	c.Scopes = []string{"memories:read"}
	if r, _, err := poll(t, c, omitest.Key); err != nil || len(r.Adds) != 120 || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "conversations:read") {
		t.Errorf("%v, %+v", err, r.Skipped)
	}
	c.Scopes = nil
	if _, _, err := poll(t, c, omitest.Key); !errors.Is(err, errOmiRight) || strings.Contains(err.Error(), omitest.Key) {
		t.Errorf("no right: %v", err)
	}
	for _, at := range []string{"http://api.omi.me", "ftp://127.0.0.1", "https://", "https://me:pass@api.omi.me", "https://api.omi.me?x=1", "api.omi.me"} {
		if _, err := (&OmiAPI{URL: at, Key: "k"}).Read(t.Context(), Options{}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", at, err)
		}
	}
	for body, want := range map[string]string{"{}": "is not of the expected type", "[": "offset 0", "[7, {}]": ""} {
		c := cloud(t)
		c.Before = func(n int, w http.ResponseWriter) bool {
			if n == 1 {
				_, _ = w.Write([]byte(body)) // the client reports what arrived
			}
			return n == 1
		}
		r, _, err := poll(t, c, omitest.Key)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || want == "" && (len(r.Skipped) != 2 || len(r.Adds) != 70+4) {
			t.Errorf("%s: %v, %+v", body, err, r.Skipped)
		}
	}
}

// The key is sent only to the given address, and not to where that redirects.
func TestPollOmiRedirected(t *testing.T) {
	elsewhere, c := omitest.New(t), omitest.New(t)
	c.Before = func(_ int, w http.ResponseWriter) bool {
		w.Header().Set("Location", elsewhere.URL+"/v1/dev/user/memories")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	if _, _, err := poll(t, c, omitest.Key); err == nil || len(elsewhere.Asked()) > 0 {
		t.Errorf("%v, asked elsewhere: %v", err, elsewhere.Asked())
	}
}
