package query_test

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

// TestPropertiesOfBystanders asks for a property of somebody, given lines in which they or the wearer speak of
// another person's.
func TestPropertiesOfBystanders(t *testing.T) {
	n := nodetest.New(t, nil)
	at := time.Now().Add(-time.Hour)
	for speaker, lines := range map[string][]string{
		"Tom":  {"My sister lives in Rome, near the station.", "今天李叔叔生日，记得发个消息。"},
		"Ines": {"My birthday is on June 11th."},
		"Ana":  {"Maybe we should get a dog, but Tom says no.", "Dr. Weber lives in Bonn."},
	} {
		for _, line := range lines {
			at = at.Add(time.Second)
			nodetest.Hear(t, n, at, speaker, line)
		}
	}
	for question, known := range map[string]bool{
		"where does Tom live": false, "Tom的生日是哪天": false, "what's my dog's name": false, "where does Dr. Chen live": false, "how old is Dr. Weber": false,
		"when is Ines's birthday": true, "where does Dr. Weber live": true,
	} {
		res, err := n.Search(t.Context(), serve.SearchRequest{Query: question})
		if err != nil {
			t.Fatal(err)
		}
		if res.Known != known {
			t.Errorf("%s: known %v, confidence %.2f, by %q", question, res.Known, res.Confidence, res.Hits[0].Text)
		}
	}
}
