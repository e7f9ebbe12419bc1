package day

import "strings"

// howto is a set of instructions, told at the machine.
type howto struct {
	ask   string   // "descale the coffee machine"
	about []string // words by which it is recognised
	steps []string // as commands, without a full stop
}

var howtos = []howto{
	{"descale the coffee machine", []string{"descale", "descaler", "coffee machine"}, []string{
		"empty the water tank and the drip tray", "mix a sachet of descaler into half a litre of water and pour it into the tank",
		"hold the steam button for five seconds", "let the whole tank run through twice", "rinse the tank with fresh water"}},
	{"reset the projector", []string{"projector"}, []string{
		"switch the projector off at the wall", "wait until the fan has stopped", "hold the menu button and switch it on again",
		"pick the second input on the remote"}},
	{"unjam the printer", []string{"printer", "paper"}, []string{
		"open the flap at the back of the printer", "pull the paper out slowly with both hands", "take out the toner and shake it",
		"close everything", "press the green button twice"}},
	{"feed the sourdough", []string{"sourdough", "starter", "flour"}, []string{
		"throw away all of the sourdough starter but two spoons", "stir in fifty grams of flour", "add fifty grams of warm water",
		"cover the jar with a cloth", "leave it by the radiator until it has doubled"}},
	{"bleed the radiator", []string{"radiator"}, []string{
		"turn the heating off and let the radiator cool", "put a bowl under the valve", "open the valve with the little key until it hisses",
		"close it when water comes", "top up the boiler to one and a half bar"}},
	{"repot the orchid", []string{"orchid"}, []string{
		"soak the orchid for ten minutes", "pull it out of the pot and shake off the old bark", "cut away the brown roots",
		"fill the new pot with fresh bark", "keep it out of the sun for a week"}},
	{"change the bike's inner tube", []string{"tube", "tyre", "wheel", "bike"}, []string{
		"turn the bike over and take the wheel out", "lever the tyre off on one side", "pull out the old inner tube and put the new one in",
		"press the tyre back with your thumbs", "pump it up to four bar"}},
	{"back up the server", []string{"server", "backup", "back up"}, []string{
		"log in to the server and stop the queue", "start the backup job", "wait until it prints done", "start the queue again",
		"write the date on the list by the door"}},
}

var howtoAsked = []string{
	"How do you {do}, anyway?", "Can you show me how to {do}?", "Does anyone know how to {do}?", "Remind me, how do we {do}?",
	"How does one {do}?",
}

// manner is a style of telling steps: the phrases before the first, before the last, and before
// those in between, in turn.
type manner struct {
	opening, first, last string
	between              []string
	you                  bool // "you open", and not "open"
	end                  string
}

var manners = []manner{
	{"It's easy. ", "First ", "And finally ", []string{"Then ", "After that ", "Next "}, true, ". "},
	{"Okay, so. ", "First, ", "Finally, ", []string{"Second, ", "Third, ", "Fourth, "}, false, ". "},
	{"Watch. ", "Step one, ", "last step, ", []string{"step two, ", "step three, ", "step four, "}, false, "; "},
	{"To {do}, ", "you first ", "and in the end you ", []string{"then you ", "after that you ", "next you "}, false, ", "},
	{"Right, how to {do}: ", "first ", "and last of all ", []string{"then ", "after that ", "and then "}, true, ", "},
	{"Here's how you {do}. ", "You start like this: ", "Finally, ", []string{"Next, ", "Then ", "After that, "}, false, ". "},
}

// tell words instructions as a person would.
func (h howto) tell(w manner) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(w.opening, "{do}", h.ask))
	for i, s := range h.steps {
		switch {
		case i == 0:
			b.WriteString(w.first)
		case i == len(h.steps)-1:
			b.WriteString(w.last)
		default:
			b.WriteString(w.between[(i-1)%len(w.between)])
		}
		if w.you {
			b.WriteString("you ")
		}
		b.WriteString(s)
		if i < len(h.steps)-1 {
			b.WriteString(w.end)
		}
	}
	b.WriteByte('.')
	return b.String()
}
