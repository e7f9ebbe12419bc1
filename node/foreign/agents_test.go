package foreign

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locket-dev/locket/memory"
)

func texts(r Result) (out []string) {
	for _, a := range r.Adds {
		out = append(out, a.Text)
	}
	return out
}

func TestMirix(t *testing.T) {
	r := read(t, Mirix, `{"success": true, "memories": {
		"episodic": {"total_count": 1, "items": [{"id": "e1", "occurred_at": "2026-03-01T10:00:00+01:00", "event_type": "meeting", "actor": "user", "summary": "Met Tom", "details": "at the lake"}]},
		"semantic": {"items": [{"id": "s1", "name": "Zurich", "summary": "a city", "details": "", "source": "talk", "created_at": "2026-03-01T10:00:00"}, 5]},
		"procedural": {"items": [{"id": "p1", "entry_type": "guide", "summary": "Tea", "steps": ["Boil", "Pour"]}]},
		"resource": {"items": [{"id": "r1", "title": "Plan", "summary": "The plan", "content": "all of it"}]},
		"knowledge_vault": {"items": [{"id": "v1", "caption": "office Wi-Fi", "secret_value": "tulip-42-harbor"}, {"id": "v2", "caption": "key", "secret_value": "two words"}]},
		"core": {"items": [{"id": "c1", "label": "human", "value": "Name is Ana\n- likes tea"}, {"id": "c2", "label": "persona", "value": "I am helpful"}]}}}`)
	if got := texts(r); !slices.Equal(got, []string{"Met Tom", "Zurich: a city", "Tea", "The plan", "The password for office Wi-Fi is tulip-42-harbor", "Name is Ana", "likes tea"}) {
		t.Errorf("%q", got)
	}
	if len(r.Skipped) != 3 || strings.Contains(r.Skipped[1].Reason, "two words") {
		t.Errorf("%+v", r.Skipped)
	}
	met, secret := r.Adds[0], r.Adds[4]
	if met.Type != memory.Episodic || met.Fields.Episodic.EventType != "meeting" || met.Fields.Episodic.Actor != "" || met.At.UTC().Hour() != 9 || met.Metadata["mirix_id"] != "e1" {
		t.Errorf("%+v", met)
	}
	if !secret.Infers() || Shown(&secret) != "office Wi-Fi: goes to the vault" || Shown(&met) != "Met Tom" || len(secret.Tags) > 0 || !slices.Equal(r.Adds[2].Fields.Procedural.Steps, []string{"Boil", "Pour"}) {
		t.Errorf("%+v", secret)
	}
}

func TestLetta(t *testing.T) {
	r := read(t, Letta, `{"agents": [{"id": "agent-0", "name": "Sam", "messages": [
		{"id": "m0", "role": "system", "content": [{"type": "text", "text": "You are"}]},
		{"id": "m1", "role": "user", "content": [{"type": "text", "text": "{\"type\": \"user_message\", \"message\": \"I live in Ghent\", \"time\": \"x\"}"}]},
		{"id": "m2", "role": "user", "content": [{"type": "text", "text": "{\"type\": \"heartbeat\"}"}]}, {"id": "m3", "role": "user", "content": "plain"}]}],
		"groups": [], "blocks": [{"id": "block-0", "label": "human", "value": "Has two cats.", "limit": 5000}, {"id": "block-1", "label": "persona", "value": "I am Sam"}]}`)
	if got := texts(r); !slices.Equal(got, []string{"Has two cats.", "I live in Ghent", "plain"}) || len(r.Skipped) != 1 {
		t.Errorf("%q %+v", got, r.Skipped)
	}
	if r.Adds[0].Infers() || !r.Adds[1].Infers() || r.Adds[0].Undated || !r.Adds[1].Undated || r.Adds[1].Metadata["letta_agent"] != "Sam" || r.Adds[0].Metadata["letta_block"] != "human" {
		t.Errorf("%+v", r.Adds)
	}
	if got := texts(read(t, Letta, `{"agent_type": "memgpt_agent", "core_memory": [{"label": "human", "value": "Older"}], "messages": []}`)); !slices.Equal(got, []string{"Older"}) {
		t.Errorf("%q", got)
	}
	if got := texts(read(t, Letta, `[{"id": "passage-1", "text": "A passage", "tags": ["a"], "created_at": "2026-03-01T10:00:00Z"}]`)); !slices.Equal(got, []string{"A passage"}) {
		t.Errorf("%q", got)
	}
}

func TestOmi(t *testing.T) {
	r := read(t, Omi, `[{"id": "1", "content": "Likes hiking", "category": "interests", "tags": ["sport"], "created_at": "2026-03-01T10:00:00Z"},
		{"id": "2", "started_at": "2026-03-01T10:00:00Z", "structured": {"title": "Lunch"}, "transcript_segments": [
			{"text": "Hello Tom", "speaker": "SPEAKER_00", "is_user": true, "start": 1.5}, {"text": "Hi", "speaker": "SPEAKER_01", "speaker_name": "Tom", "is_user": false, "start": 3}]},
		{"id": "3", "discarded": true, "transcript_segments": [{"text": "noise"}]}, {"id": "4"}]`)
	if got := texts(r); !slices.Equal(got, []string{"Likes hiking", "Hello Tom", "Hi"}) || len(r.Skipped) != 2 {
		t.Errorf("%q %+v", got, r.Skipped)
	}
	if a := r.Adds[2]; a.Speaker != "Tom" || a.At.Second() != 3 || !a.Infers() || a.Metadata["omi_title"] != "Lunch" || r.Adds[1].Speaker != "" {
		t.Errorf("%+v", r.Adds)
	}
	if got := texts(read(t, Omi, `{"id": "9", "created_at": "2026-03-01T10:00:00Z", "transcript_segments": [{"text": "One", "is_user": true}]}`)); !slices.Equal(got, []string{"One"}) {
		t.Errorf("a webhook's body: %q", got)
	}
}

func TestScreenpipe(t *testing.T) {
	r := read(t, Screenpipe, `{"data": [{"type": "Audio", "content": {"chunk_id": 4, "transcription": "See you at ten", "timestamp": "2026-03-01T10:00:00Z", "device_name": "mic", "speaker": {"id": 1, "name": "Tom"}, "start_time": 0.5}},
		{"type": "OCR", "content": {"frame_id": 1, "text": "A page", "timestamp": "2026-03-01T10:00:00Z", "app_name": "Browser", "window_name": "News", "browser_url": "https://x.example"}},
		{"type": "OCR", "content": {"frame_id": 2, "text": "A  page", "timestamp": "2026-03-01T10:00:05Z", "app_name": "Browser", "window_name": "News"}},
		{"type": "OCR", "content": {"frame_id": 3, "text": " ", "app_name": "Browser"}}, {"type": "Input", "content": {}}], "pagination": {"total": 5}}`)
	if got := texts(r); !slices.Equal(got, []string{"See you at ten", "Browser: News"}) || len(r.Skipped) != 2 {
		t.Errorf("%q %+v", got, r.Skipped)
	}
	if page := r.Adds[1]; r.Adds[0].Speaker != "Tom" || page.Fields.Resource.Content != "A page" || *page.Sensitivity != memory.Private || page.Metadata["screenpipe_frame"] != "1" {
		t.Errorf("%+v", r.Adds)
	}
}

func TestBasicMemory(t *testing.T) {
	r, err := ReadFolder(t.Context(), BasicMemory, fstest.MapFS{"coffee.md": {Data: []byte("---\ntitle: Coffee\ntype: note\ntags: [brewing]\n---\n# Coffee\n\n## Observations\n- [method] Pour over gives clarity #brewing (tried)\n- [x] done\n\n## Relations\n- relates_to [[Tea]]\n")}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(r); !slices.Equal(got, []string{"Coffee", "Pour over gives clarity (tried)"}) {
		t.Errorf("%q", got)
	}
	if !slices.Equal(r.Adds[1].Tags, []string{"basic-memory", "brewing", "method"}) || r.Adds[0].Fields.Resource == nil {
		t.Errorf("%+v", r.Adds)
	}
}

func TestOpenMemory(t *testing.T) {
	r := read(t, Mem0, `{"items": [{"id": "a", "content": "Likes tea", "state": "active", "created_at": 1738540800, "categories": ["food"]}, {"id": "b", "content": "Old", "state": "deleted"}]}`)
	if got := texts(r); !slices.Equal(got, []string{"Likes tea"}) || r.Adds[0].At.Year() != 2025 {
		t.Errorf("%q %+v", got, r)
	}
}

// A file that is cut off, or of another format, is refused with the place of
// the error.
func TestAgentsRefuse(t *testing.T) {
	whole := `{"memories": {"episodic": {"items": [{"id": "e1", "summary": "Met Tom"}]}}}`
	for n := range whole {
		if r, err := Read(t.Context(), Mirix, "f", strings.NewReader(whole[:n]), Options{}); !errors.Is(err, memory.ErrInvalid) {
			t.Fatalf("at %d: %+v, %v", n, r, err)
		}
	}
	for f, text := range map[Format]string{Mirix: `{}`, Letta: `{}`, Omi: `{"memories": 4}`, Screenpipe: `{"data": {}}`, Claude: `{}`, BasicMemory: `{"note": 1}`} {
		if r, err := Read(t.Context(), f, "f.json", strings.NewReader(text), Options{}); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "want ") || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %+v, %v", f, r, err)
		}
	}
}
