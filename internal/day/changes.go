package day

// This file has the facts that change in the course of a day: an appointment, the home, the
// employer. Each has phrases for the old state, and phrases for the new one.

// visit is somebody with whom one has an appointment.
type visit struct{ who, practice string }

var visits = []visit{
	{"dentist", "practice"}, {"optician", "shop"}, {"physiotherapist", "practice"}, {"dermatologist", "practice"},
	{"hairdresser", "salon"}, {"vet", "clinic"}, {"orthodontist", "practice"},
}

var (
	visitOld = []string{
		"I've got the {visit} {oldday} at {oldclock}.",
		"My {visit} appointment is {oldday} at {oldclock}.",
		"I have a {visit} appointment {oldday} at {oldclock}.",
		"I'm seeing the {visit} {oldday}, at {oldclock}.",
		"I have to be at the {visit} {oldday} at {oldclock}.",
		"There's the {visit} {oldday} at {oldclock}, I'd nearly forgotten.",
	}
	visitOffer = []string{
		"I'm so sorry, {doctor} isn't in {oldday}. We'd have to move your appointment.",
		"I'm afraid {doctor} has been called away, so we have to move your appointment.",
		"We've got a problem with your appointment {oldday}, {doctor} is ill.",
		"It's about your appointment, there's been a mix-up with {doctor}'s calendar.",
		"I'm calling because {doctor} has to be somewhere else {oldday}.",
	}
	visitPropose = []string{
		"Could you do {newday}, at {newclock}?",
		"Would {newday} at {newclock} be all right?",
		"How about {newday}, {newclock}?",
		"The next free one is {newday} at {newclock}, would that do?",
		"I've got {newday} at {newclock}, is that possible for you?",
	}
	visitNew = []string{
		"Yes, {newday} at {newclock} works.",
		"Okay, then I'll come on {newday} at {newclock}.",
		"{newday} at {newclock} is fine for me.",
		"That's fine. So {newday}, {newclock}.",
		"Sure, let's make it {newday} at {newclock}.",
	}
	visitConfirm = []string{
		"Lovely. So that's your {visit} appointment moved to {newday}, {newclock}.",
		"Perfect, your {visit} appointment is now on {newday} at {newclock}.",
		"Thank you. Then I've changed your {visit} appointment to {newday} at {newclock}.",
		"Great, you're down at the {visit} for {newday} at {newclock}.",
		"Good, I've got you at the {visit} on {newday} at {newclock} instead.",
	}
	visitTold = []string{
		"The {visit} moved me, it's on {newday} at {newclock} now.",
		"My {visit} appointment has been moved to {newday} at {newclock}.",
		"They called from the {visit}, the appointment is on {newday} now, at {newclock}.",
		"No {visit} {oldday} after all, I'm going on {newday} at {newclock} instead.",
		"Oh, the {visit} isn't {oldday} any more, it's {newday} at {newclock}.",
	}
	visitAsked = []string{
		"Shall I drive you to the {visit}?", "So what about the {visit}?", "When do you have to be at the {visit} again?",
		"Do you want company at the {visit}?", "And the {visit}, is that still on?",
	}
)

var (
	homeOld = []string{
		"I live in {oldhome}, I'm only here for work this month.",
		"No, I live in {oldhome}. I'm just visiting.",
		"I'm living in {oldhome}, but I come here a lot.",
		"My home is in {oldhome}, actually.",
		"I'm based in {oldhome}, I fly back at the weekend.",
	}
	homeOldHan = []string{
		"我住在{oldhan},来这边出差的。", "不是,我家在{oldhan}。", "我现在住{oldhan},这个月过来工作。",
		"我住{oldhan},周末就回去。", "我不是本地人,我住在{oldhan}。",
	}
	homeAsked    = []string{"Are you from here?", "So do you live around here?", "You're local, right?"}
	homeAskedHan = []string{"您是本地人吗?", "您住附近吧?", "您不是这儿的人吧?"}
	homeNew      = []string{
		"I've moved to {newhome}. I live here now.",
		"It's official, I live in {newhome} now, not in {oldhome} any more.",
		"I'm not going back, I've moved from {oldhome} to {newhome}.",
		"As of today I live in {newhome}.",
		"We signed the lease, I live in {newhome} now.",
	}
	homeNewHan = []string{
		"我搬到{newhan}了,不回{oldhan}了。", "我不住{oldhan}了,我搬到{newhan}了。", "我现在住在{newhan}了,合同都签好了。",
		"告诉你,我从{oldhan}搬到{newhan}了。", "从今天起我就住在{newhan}了。",
	}
)

var (
	firmOld = []string{
		"I work at {oldfirm}.", "I work for {oldfirm}, three years now.", "I'm with {oldfirm}, over in product.",
		"My job's at {oldfirm}.", "I've been working at {oldfirm} since spring.",
	}
	firmAsked = []string{"And what do you do?", "Where do you work?", "So who do you work for?"}
	firmNew   = []string{
		"I've changed jobs, I work at {newfirm} now.",
		"I've left {oldfirm}. I work for {newfirm} now.",
		"I don't work at {oldfirm} any more, I'm at {newfirm} now.",
		"As of today I work for {newfirm}.",
		"I quit {oldfirm} and joined {newfirm}.",
	}
)

// Two more subjects of phone calls.
var (
	allergyAsked = []string{"Any allergies we should know of?", "Is there anything you're allergic to?", "Do you have any allergies?"}
	allergySaid  = []string{
		"Yes, I'm allergic to {drug}.", "I'm allergic to {drug}, yes.", "I have an allergy to {drug}.",
		"Just {drug}, I'm allergic to {drug}.", "I can't have {drug}, I'm allergic to it.",
	}
	drugs     = []string{"penicillin", "latex", "ibuprofen", "iodine", "aspirin", "lidocaine"}
	bringSaid = []string{
		"And please bring your {card}.", "Don't forget to bring your {card}, please.", "You'll need to bring your {card}.",
		"We'd need you to bring your {card} this time.", "Could you bring your {card}, please, ours is out of date.",
	}
	cards = []string{"insurance card", "referral letter", "old x-rays", "membership card", "signed form"}
)
