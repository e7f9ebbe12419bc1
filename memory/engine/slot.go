package engine

import (
	"strings"

	"github.com/locket-dev/locket/memory"
)

// slotWords are the words with which a person asks after what fills a slot:
// "I've moved to Chicago" answers "where do I live" without saying so.
var slotWords = map[string]string{
	"home":        "lives home",
	"employer":    "works for company job",
	"job":         "works as job",
	"origin":      "comes from origin",
	"birthplace":  "born in",
	"birthday":    "birthday born",
	"age":         "old age",
	"partner":     "partner married",
	"spouse":      "husband wife married",
	"diet":        "eats diet",
	"school":      "studied school",
	"allergy":     "allergic allergy",
	"dislikes":    "dislikes hates",
	"likes":       "likes loves",
	"owns":        "has owns",
	"located":     "where is",
	"place":       "where is",
	"appointment": "appointment",
}

// asked returns those words for a memory's slot, or the slot's own name.
func asked(s *memory.Slot) string {
	if s == nil {
		return ""
	}
	if w, ok := slotWords[s.Attribute]; ok {
		return w
	}
	attribute, _, _ := strings.Cut(s.Attribute, ":")
	return strings.ReplaceAll(attribute, "_", " ")
}
