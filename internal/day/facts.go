package day

// fact is a statement worth remembering, in several phrasings, with a question about it. Braces
// mark placeholders for what the seed draws.
type fact struct {
	who    string // the role of the speaker
	to     string // the role of the listener
	draw   []pool
	lead   []string // a question that the other sometimes asks first
	say    []string // one of these is said
	ask    string
	answer []string // what the answer contains, one of these; {xforms}: every form of {x}
}

// pool lists the values of a fact's placeholder. If say and ask need different words for one thing,
// a value has both, separated by a bar: the second replaces the placeholder's name with a 2 after
// it.
type pool struct {
	name   string
	values []string
}

var milk = pool{"drink", []string{"oat milk", "almond milk", "soy milk", "coconut milk", "rice milk"}}

// homeFacts are said at breakfast.
var homeFacts = []fact{
	{who: "wearer", to: "partner", draw: []pool{milk}, lead: []string{"Coffee?", "Shall I make you a coffee?"},
		say: []string{
			"Yes please. But with {drink}, I prefer {drink} in my coffee.",
			"Please. I take {drink} in my coffee these days.",
			"Mm, yes. I really like {drink} in my coffee better.",
			"Go on. With {drink} though, I can't stand ordinary milk in coffee any more.",
			"I'd love one. {drink} in the coffee, I don't drink cow's milk now.",
		}, ask: "What milk do I take in my coffee?", answer: []string{"{drink}"}},
	{who: "wearer", to: "partner", draw: []pool{
		{"thing", []string{"charger", "umbrella", "sunglasses case", "tape measure", "bike pump", "headphones", "label printer"}},
		{"place", []string{"in the drawer under the kettle", "behind the sofa", "on top of the fridge", "in the blue box in the hall", "in the left pocket of your grey coat", "on the shelf above the washing machine"}}},
		lead: []string{"Have you seen my {thing}?", "Where's my {thing} gone?", "You don't happen to know where my {thing} is?"},
		say: []string{
			"Your {thing} is {place}.",
			"I put your {thing} {place} yesterday.",
			"The {thing}? It's {place}, where it always is.",
			"I saw the {thing} {place}.",
			"You left the {thing} {place} last night.",
		}, ask: "Where is {partner}'s {thing}?", answer: []string{"{place}"}},
	{who: "wearer", to: "partner", lead: []string{"And where is the spare key now?", "Who's got our spare key?"},
		say: []string{
			"I left the spare key with {neighbour}.",
			"{neighbour} has our spare key.",
			"I gave the spare key to {neighbour} on Sunday.",
			"The spare key is with {neighbour} for now.",
			"I dropped the spare key off at {neighbour}'s.",
		}, ask: "Who has the spare key?", answer: []string{"{neighbour}"}},
	{who: "partner", to: "wearer", draw: []pool{{"kin", []string{"Dad|{partner}'s dad", "Mum|{partner}'s mum", "Grandma|{partner}'s grandma", "my brother|{partner}'s brother", "my aunt|{partner}'s aunt"}}},
		say: []string{
			"Oh, before I forget, {kin}'s birthday is on {date1}.",
			"{kin} has a birthday on {date1}, don't let me forget.",
			"It's {kin}'s birthday on {date1}, and I have no idea for a present.",
			"You know {kin}'s birthday is {date1}, right.",
			"{date1} is {kin}'s birthday, we should call.",
		}, ask: "When is the birthday of {kin2}?", answer: []string{"{date1forms}"}},
	{who: "wearer", to: "partner", draw: []pool{{"duty", []string{"order the cake|the cake", "pay the gas bill|the gas bill", "call the plumber|the plumber", "return the library books|the library books", "book the flights|the flights"}}},
		say: []string{
			"I'll {duty} by {day1}, I promise.",
			"I promise I'll {duty} by {day1}.",
			"Okay, okay, I'll {duty}. By {day1}, promise.",
			"Leave it to me, I'm going to {duty} by {day1}.",
			"By {day1} I'll {duty}. You have my word.",
		}, ask: "By when did I promise {partner} to deal with {duty2}?", answer: []string{"{day1}"}},
	{who: "neighbour", to: "wearer",
		say: []string{
			"I'm going to {far} tomorrow, to see my daughter.",
			"My daughter lives in {far}, I'm visiting her tomorrow.",
			"I'm off to {far} tomorrow, my daughter lives there.",
			"Tomorrow I'm travelling to {far}, to my daughter's.",
			"My daughter has invited me to {far}, I leave tomorrow.",
		}, ask: "Where does {neighbour}'s daughter live?", answer: []string{"{far}"}},
}

// workFacts are said in the office.
var workFacts = []fact{
	{who: "anna", to: "ben", draw: []pool{{"project", []string{"pilot", "prototype", "new website", "survey", "training course", "mobile app"}}},
		say: []string{
			"So, {client} wants the {project} live on {date2}.",
			"The {project} for {client} goes live on {date2}.",
			"The deadline for the {client} {project} is {date2}, no way around it.",
			"{client} expects the {project} on {date2}.",
			"We've told {client} that the {project} will be finished on {date2}.",
		}, ask: "When does {client} expect the {project}?", answer: []string{"{date2forms}"}},
	{who: "anna", to: "ben", draw: []pool{{"option", []string{"smaller sensor|sensor", "cheaper printer|printer", "second supplier|supplier", "Danish venue|venue", "yellow logo|logo", "open-source database|database"}}},
		say: []string{
			"Then let's go with the {option}.",
			"Okay, decided, we're taking the {option}.",
			"So we've decided on the {option}.",
			"Good, then we agree on the {option}.",
			"All right, the {option} it is, that's settled.",
		}, ask: "Which {option2} did we decide on?", answer: []string{"{option}"}},
	{who: "anna", to: "wearer", draw: []pool{{"sum", []string{"forty thousand", "twelve thousand", "sixty-five thousand", "ninety thousand", "eight thousand"}}},
		say: []string{
			"The budget is capped at {sum} euros, by the way.",
			"We have a budget of {sum} euros and not one more.",
			"They've approved a budget of {sum} euros.",
			"Our budget for this is {sum} euros in total.",
			"Finance came back, the budget is {sum} euros.",
		}, ask: "How much is the budget?", answer: []string{"{sum}"}},
	{who: "ben", to: "anna", draw: []pool{{"food", []string{"hazelnuts", "shellfish", "sesame", "peanuts", "kiwi fruit", "walnuts"}}},
		lead: []string{"Cake? It's from the meeting upstairs.", "Do you want one of these?"},
		say: []string{
			"No thanks, I'm allergic to {food}.",
			"Better not, I have a bad {food} allergy. I mean it, I'm allergic to {food}.",
			"I can't, I'm allergic to {food}, I swell up like a balloon.",
			"Is there {food} in that? I'm very allergic to {food}.",
			"Keep it away from me, I'm seriously allergic to {food}.",
		}, ask: "What is {ben} allergic to?", answer: []string{"{food}"}},
	{who: "wearer", to: "anna", draw: []pool{{"paper", []string{"draft report", "slides", "contract", "test results", "minutes", "cost estimate"}}},
		say: []string{
			"{anna}, I'll send you the {paper} by {day2}.",
			"I'll get the {paper} to you by {day2}, {anna}.",
			"You'll have the {paper} from me by {day2}, I promise.",
			"I promise you'll get the {paper} by {day2}.",
			"Give me until {day2}, {anna}, and I'll send you the {paper}.",
		}, ask: "What did I promise to send {anna}?", answer: []string{"{paper}"}},
	{who: "ben", to: "wearer", draw: []pool{{"sibling", []string{"sister", "brother", "cousin"}}},
		say: []string{
			"Did I tell you? My {sibling} {relative} is getting married in {far2}.",
			"My {sibling} {relative} is getting married, in {far2} of all places.",
			"We're all flying to {far2}, my {sibling} {relative} is getting married there.",
			"There's a wedding in the family: my {sibling} {relative} is getting married in {far2}.",
			"My {sibling} {relative} got engaged, they're getting married in {far2}.",
		}, ask: "Where is {ben}'s {sibling} {relative} getting married?", answer: []string{"{far2}"}},
	{who: "anna", to: "wearer", draw: []pool{{"team", []string{"design", "support", "sales", "research", "hardware", "data"}}},
		say: []string{
			"From next month I'm taking over the {team} team.",
			"They asked me to lead the {team} team, and I said yes.",
			"I'm going to run the {team} team from next month on.",
			"I'm moving to the {team} team next month.",
			"As of the first I'm head of the {team} team.",
		}, ask: "Which team is {anna} going to?", answer: []string{"{team}"}},
	{who: "anna", to: "ben", draw: []pool{{"diet", []string{"vegetarian", "vegan", "pescatarian"}}},
		say: []string{
			"Is there something for me? I'm {diet}.",
			"I'm {diet}, so not that one.",
			"I don't eat meat, I'm {diet}.",
			"I've been {diet} for years.",
			"You know I'm {diet}.",
		}, ask: "Is {anna} vegetarian, vegan or pescatarian?", answer: []string{"{diet}"}},
	{who: "anna", to: "ben", draw: []pool{{"age", []string{"five", "six", "seven", "eight", "nine", "ten"}}},
		say: []string{
			"My daughter {child} is turning {age} on Sunday.",
			"{child}'s turning {age} on Sunday, my daughter, can you believe it.",
			"Sunday is my daughter {child}'s birthday, she's turning {age}.",
			"We're having a party on Sunday, my daughter {child} is turning {age}.",
			"My daughter {child} will be {age} on Sunday.",
		}, ask: "How old will {anna}'s daughter {child} be?", answer: []string{"{age}"}},
}

// outFacts are said on the way: to oneself, and in the bookshop.
var outFacts = []fact{
	{who: "wearer", to: "wearer", draw: []pool{
		{"belonging", []string{"passport", "blue notebook", "vaccination card", "old laptop", "winter gloves", "camera lens"}},
		{"spot", []string{"in the top drawer of my desk", "in locker twelve at the gym", "in the glove compartment", "on the second shelf in the cellar", "in the inside pocket of the green rucksack"}}},
		say: []string{
			"Note to self, my {belonging} is {spot}.",
			"Remember, I put my {belonging} {spot}.",
			"Okay, so that I don't forget: the {belonging} is {spot}.",
			"I've put the {belonging} {spot}.",
			"My {belonging} is now {spot}, I hope I remember that.",
		}, ask: "Where did I put my {belonging}?", answer: []string{"{spot}"}},
	{who: "bookseller", to: "wearer",
		say: []string{
			"I can hold the book for you until {day3}.",
			"I'll put the book aside for you until {day3}.",
			"It's the last copy. I'll keep the book for you until {day3}.",
			"Shall we say I hold the book until {day3}.",
			"I'll reserve the book under your name, until {day3}.",
		}, ask: "Until when does {bookseller} keep the book for me?", answer: []string{"{day3}"}},
}

// eveningFacts are said at home at the end of the day.
var eveningFacts = []fact{
	{who: "partner", to: "wearer",
		say: []string{
			"The movers are coming on {day3} at {clock3}.",
			"I've booked the movers for {day3} at {clock3}.",
			"Movers are booked, {day3}, {clock3}.",
			"On {day3} at {clock3} the movers will be here.",
			"The movers called, they come on {day3} at {clock3}.",
		}, ask: "When do the movers come?", answer: []string{"{clock3forms}"}},
	{who: "partner", to: "wearer",
		say: []string{
			"My train to {farstation} leaves at {clock4} tomorrow.",
			"Tomorrow I'm on the {clock4} train to {farstation}.",
			"I'm taking the train to {farstation} tomorrow, at {clock4}.",
			"My train tomorrow goes at {clock4}, to {farstation}.",
			"I have to catch the train to {farstation} at {clock4} tomorrow.",
		}, draw: []pool{{"farstation", []string{"Marienfeld", "Saltby", "Port Ellery", "Vallorca", "Kingsmere"}}},
		ask: "When does {partner}'s train to {farstation} leave?", answer: []string{"{clock4forms}"}},
	{who: "partner", to: "wearer", draw: []pool{{"hidden", []string{"behind the mirror in the bathroom", "under the sink", "in the cupboard by the front door", "in the cellar on the right", "behind the washing machine"}}},
		say: []string{
			"The main water tap is {hidden}, the agent showed me.",
			"I found the main water tap, it's {hidden}.",
			"If there's ever a leak, the main water tap is {hidden}.",
			"They've put the main water tap {hidden}.",
			"The water tap for the whole flat is {hidden}.",
		}, ask: "Where is the main water tap?", answer: []string{"{hidden}"}},
}
