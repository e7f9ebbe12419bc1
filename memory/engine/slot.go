package engine

import (
	"strings"

	"github.com/locket-dev/locket/memory"
)

// slotWords are the words with which a person asks for what fills a slot: "I've moved to Chicago"
// answers "where do I live" without these words.
var slotWords = map[string]string{
	"home":           "live home 住在",
	"employer":       "work company job 上班",
	"job":            "work job 工作",
	"education":      "study school university",
	"origin":         "come from origin",
	"birthplace":     "born in",
	"birthday":       "birthday born",
	"age":            "old age",
	"partner":        "partner married",
	"spouse":         "husband wife married",
	"marital_status": "married",
	"diet":           "eat diet",
	"avoids":         "eat avoid",
	"allergy":        "allergic allergy",
	"allergies":      "allergic allergy",
	"medication":     "take medicine medication 药",
	"member_of":      "club group member 社团 参加",
	"bin_day":        "bins go out collected rubbish",
	"plays":          "plays instrument 乐器",
	"dislikes":       "dislike hate",
	"likes":          "like love",
	"favourite_food": "favourite food like eat",
	"owns":           "have own",
	"pets":           "pet",
	"speaks":         "speak language",
	"learning":       "learn",
	"never":          "ever",
	"afraid_of":      "afraid fear",
	"lent":           "who has lent borrowed 借",
	"borrowed":       "whose borrowed 借",
	"located":        "where is",
	"location":       "where is",
	"place":          "where is",
	"appointment":    "appointment",
}

// asked returns those words for a memory's slot, or the slot's own name.
func asked(m *memory.Memory) string {
	if m.Slot == nil {
		return ""
	}
	attribute, _, _ := strings.Cut(m.Slot.Attribute, ":")
	if f := m.Fields.Semantic; f != nil && f.Predicate == "medication" { // its slot holds a time of day
		attribute = f.Predicate
	}
	if w, ok := slotWords[strings.TrimPrefix(attribute, "not_")]; ok {
		return w
	}
	return strings.ReplaceAll(attribute, "_", " ")
}
