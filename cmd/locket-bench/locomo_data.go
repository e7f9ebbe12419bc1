package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// conversation is one of LoCoMo's (Maharana et al., 2024): two people over
// many sessions, and questions about what they said.
type conversation struct {
	Name     string
	Sessions []session
	Asked    []asked
}

type session struct {
	Name  string // session_1, …
	At    time.Time
	Turns []turn
}

type turn struct {
	ID      string // D<session>:<turn>
	Speaker string
	Text    string
	Caption string // of the photo that was sent with it
}

type asked struct {
	Question string
	Category int
	Evidence []string // ids of turns that are there
	Answer   string   // as the dataset has it; of an adversarial question none
}

// categories by LoCoMo's numbers.
var categories = [...]string{1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}

// readLocomo reads LoCoMo's own file. It cleans the evidence: it reads ids that are joined in one
// string, or that have a colon or zero too many, as they are meant, and leaves out those that name
// no turn.
func readLocomo(path string) ([]conversation, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file []struct {
		Sample       string                     `json:"sample_id"`
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []struct {
			Question string   `json:"question"`
			Category int      `json:"category"`
			Evidence []string `json:"evidence"`
			Answer   any      `json:"answer"` // a text, or a number
		} `json:"qa"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var out []conversation
	for _, f := range file {
		c := conversation{Name: f.Sample}
		there := map[string]bool{}
		for i := 1; ; i++ {
			name := "session_" + strconv.Itoa(i)
			date, ok := f.Conversation[name+"_date_time"]
			if !ok {
				break
			}
			s := session{Name: name}
			var text string
			var turns []struct {
				ID      string `json:"dia_id"`
				Speaker string `json:"speaker"`
				Text    string `json:"text"`
				Caption string `json:"blip_caption"`
			}
			if err := json.Unmarshal(date, &text); err != nil {
				return nil, fmt.Errorf("read %s: %s: date of %s: %w", path, f.Sample, name, err)
			}
			if s.At, err = time.Parse("3:04 pm on 2 January, 2006", text); err != nil {
				return nil, fmt.Errorf("read %s: %s: date of %s: %w", path, f.Sample, name, err)
			}
			if raw, ok := f.Conversation[name]; ok {
				if err := json.Unmarshal(raw, &turns); err != nil {
					return nil, fmt.Errorf("read %s: %s: %s: %w", path, f.Sample, name, err)
				}
			}
			for _, t := range turns {
				there[t.ID] = true
				s.Turns = append(s.Turns, turn(t))
			}
			c.Sessions = append(c.Sessions, s)
		}
		for _, q := range f.QA {
			if q.Category < 1 || q.Category >= len(categories) {
				return nil, fmt.Errorf("read %s: %s: category %d", path, f.Sample, q.Category)
			}
			a := asked{Question: q.Question, Category: q.Category, Evidence: cleanEvidence(q.Evidence, there)}
			if q.Answer != nil && categories[q.Category] != "adversarial" {
				a.Answer = fmt.Sprint(q.Answer)
			}
			c.Asked = append(c.Asked, a)
		}
		out = append(out, c)
	}
	return out, nil
}

var evidenceID = regexp.MustCompile(`D:?(\d+):(\d+)`)

func cleanEvidence(list []string, there map[string]bool) []string {
	found := map[string]bool{}
	for _, m := range evidenceID.FindAllStringSubmatch(strings.Join(list, " "), -1) {
		s, _ := strconv.Atoi(m[1])
		t, _ := strconv.Atoi(m[2])
		if id := fmt.Sprintf("D%d:%d", s, t); there[id] {
			found[id] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
