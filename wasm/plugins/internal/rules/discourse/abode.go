package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Abode is what a place is to somebody who lives there.
type Abode byte

const (
	NoAbode Abode = iota // not a place to live in: fear, the next topic
	Passing              // a hotel, a hospital
	Dwelling
)

// Passings are places in which people stay for a while, and don't live.
var Passings = syntax.Set("hotel hostel motel airbnb hospital tent inn guesthouse b&b resort camper campsite clinic hospice")

var dwellings = syntax.Set("flat house apartment cottage cabin villa studio bungalow loft condo townhouse farm farmhouse boat houseboat caravan dorm dormitory " +
	"bedsit penthouse duplex mansion castle palace barn yurt town city village suburb suburbs countryside neighbourhood neighborhood district street road " +
	"avenue lane square country county island coast mountains woods valley building block estate capital outskirts hills seaside abroad bookshop shop bakery " +
	"pub place house-share flatshare monastery convent commune kibbutz care-home north south east west centre center riverside harbour harbor forest desert parents")

// Rooms are places to which things are moved.
var Rooms = syntax.Set("bedroom kitchen garage hallway attic study cellar balcony room corner basement bathroom shed loft corridor lounge shelf drawer cupboard fridge freezer front back " +
	"top bottom end side next topic question item slide level round row table step stage chapter section phase point subject list")

// Posts are places to which people are moved at work: "moved to the Leeds office".
var Posts = syntax.Set("office offices branch team department dept desk division unit site ward role position shift class group account project")

// states are states in which people can "live" without being at a place.
var states = syntax.Set("fear hope pain peace harmony denial poverty luxury comfort sin squalor exile isolation dread misery bliss style private public secret debt shame silence darkness " +
	"past present future moment now here there tears anger sorrow grief doubt limbo chaos fact general person vain conflict love luxury uncertainty")

// tools are programs to which people "move" without living there.
var tools = syntax.Set("slack zoom teams linux windows mac android iphone notion github gitlab gmail outlook kubernetes aws azure python rust go java google whatsapp signal telegram discord plan b wayland postgres mysql")

// careHomes are words before "home" if it is an institution.
var careHomes = syntax.Set("care nursing retirement mobile old-age residential foster children's")

// AbodeOf returns what the words after "live in" or "move to" are; plain says that the text has no
// capitals, as from speech recognition.
func AbodeOf(value string, plain bool) Abode {
	value, _, _ = strings.Cut(value, " with ")
	words := strings.Fields(value)
	if len(words) == 0 {
		return NoAbode
	}
	head := len(words) // the first noun phrase ends before a preposition
	for i, w := range words {
		if i > 0 && (syntax.Preposition(w) || w == "of" || w == "from") {
			head = i
			break
		}
	}
	noun := strings.ToLower(words[head-1])
	first := strings.ToLower(words[0])
	// After "of" or "in" comes a name: the city of Leeds, a state of panic.
	named := head+1 < len(words) && Capitalised(words[len(words)-1])
	switch {
	case Passings[noun]:
		return Passing
	case noun == "home" && head > 1 && careHomes[strings.ToLower(words[head-2])]:
		return Dwelling
	case syntax.WeekdayOf(first, false) >= 0 || syntax.MonthOf(first) > 0 && head == 1 && first != "may" && first != "march":
		return NoAbode
	case head == 1 && tools[first] || Posts[noun] && !named:
		return NoAbode
	case Capitalised(words[0]):
		return Dwelling
	case first[0] >= '0' && first[0] <= '9' && head > 1 && Capitalised(words[1]):
		return Dwelling // 12 Elm Street
	case Rooms[first] || Rooms[noun] && !named:
		return NoAbode
	case dwellings[noun] || noun == "state" && named || strings.HasSuffix(noun, "'s") || first == "parents'":
		return Dwelling
	case states[noun] || states[first]:
		return NoAbode
	case plain && head == len(words) && len(words) <= 3:
		return Dwelling // new york
	case strings.HasSuffix(value, "parents' place") || head > 1 && Capitalised(words[head-1]):
		return Dwelling
	}
	return NoAbode
}

// WentTo returns the object of "to" or "into" if a verb of moving has no object of its own: "moved
// back to Leeds", "moved from Graz to Leeds", and not "moved the sofa to the bedroom".
func WentTo(c *Clause, i int) (string, bool) {
	for k := i; k < len(c.Words); k++ {
		switch c.W(k) {
		case "to", "into":
			o, _ := c.Object(k + 1)
			return o, o != ""
		case "back", "over", "up", "down", "out", "away", "house", "home", "again", "in", "permanently", "together", "here", "just", "recently":
		case "from":
			o := k + 1
			for o < len(c.Words) && c.W(o) != "to" && c.W(o) != "into" && c.W(o) != "," {
				o++
			}
			k = o - 1
		default:
			return "", false
		}
	}
	return "", false
}

// MovedOn reports whether a move goes to something that is not a place: "we moved to the next
// topic".
func MovedOn(c *Clause, plain bool) bool {
	if c.Verb != "move" {
		return false
	}
	i := c.Vi + 1
	if c.W(i) == "on" {
		return true
	}
	to, ok := WentTo(c, i)
	return ok && AbodeOf(to, plain) == NoAbode
}
