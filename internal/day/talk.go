package day

// What is said without anything to remember in it: the greater part of a day.

var (
	fillers = []string{
		"Mm-hm.", "Yeah.", "Right.", "Okay.", "Uh-huh.", "Oh, nice.", "Hm.", "Sure, sure.", "Got it.", "Ha, true.", "Oh wow.",
		"No way.", "Fair enough.", "I see.", "Okay, okay.", "Um, yeah.", "Cool.", "Oh no.", "Ah, right.", "Good, good.", "Wow.",
	}
	hanFillers = []string{"嗯嗯。", "好的。", "哦哦。", "是啊。", "哈哈哈。", "真的呀。", "行。", "没事没事。", "对对对。", "哇。", "好嘞。"}

	greetings      = []string{"Good morning!", "Morning.", "Hey, hi.", "Hello there!", "Hi, good to see you.", "Morning, everyone.", "Hey hey."}
	farewells      = []string{"Good night.", "Night night.", "See you tomorrow.", "Sleep well.", "Night."}
	hanGreetings   = []string{"哎呀,好久不见!", "你好你好。", "嗨,这边这边!", "来啦来啦。"}
	rideGreetings  = []string{"早上好!", "您好您好。", "早啊,上车吧。"}
	phoneGreetings = []string{"Hello, yes?", "Yes, hello.", "Hi, yes, speaking.", "Oh, hello."}

	commands = []string{
		"Hey Locket, what's the weather like?", "Locket, set a timer for ten minutes.", "Hey Locket, volume down.",
		"Locket, take a photo.", "Locket, play something quiet.", "Hey Locket, read me my messages.", "Locket, stop.",
		"Hey Locket, turn the light off in the hall.", "Locket, call {partner}.",
	}

	idleQuestions = []string{
		"What time is it?", "Did you hear that?", "Is it raining again?", "Are you nearly ready?", "Shall we go?",
		"Is there any coffee left?", "Can you pass me that?", "What did you say?", "Do you want the window open?", "Where were we?",
	}
	hanQuestions = []string{"你吃了吗?", "冷不冷?", "怎么样啊?", "你说什么?", "现在几点了?", "要不要再喝点?"}

	// Exchanges of small talk: one person says the first, the other the second.
	smallTalk = [][2]string{
		{"I slept terribly, honestly.", "The street was loud all night."},
		{"The lift is out of order again.", "Stairs it is, then."},
		{"Did you see the match last night?", "Don't. Just don't."},
		{"It smells of rain.", "It's been smelling of rain since Sunday."},
		{"My phone is doing that thing again.", "Turn it off and on. That's all I know."},
		{"I can't believe it's only {weekday}.", "Tell me about it."},
		{"This chair is going to kill me.", "Take mine, I'm standing anyway."},
		{"There was a fox in the bins this morning.", "A real one? In the middle of town?"},
		{"Somebody finished the biscuits.", "Wasn't me. This time."},
		{"The train was packed.", "It always is when it's wet."},
		{"You look tired.", "Thanks, you look lovely too."},
		{"I keep hearing that song everywhere.", "Please don't sing it."},
		{"Look at that sky.", "Not bad at all."},
		{"They're digging up the road again.", "Of course they are."},
		{"I nearly left without my shoes.", "That would have been something."},
		{"The neighbours have a drum kit now.", "Oh, I heard. We all heard."},
		{"That was quite a queue.", "Half an hour for a sandwich."},
		{"I've got flour everywhere.", "You've got some on your nose as well."},
	}
	hanSmallTalk = [][2]string{
		{"今天风好大呀。", "可不是嘛,帽子差点吹跑了。"},
		{"这首歌好耳熟。", "街上到处都在放。"},
		{"你看那只鸽子,好胖。", "它是来抢面包的。"},
		{"最近忙得头都大了。", "大家都一样。"},
		{"路上堵死了。", "这个点都这样。"},
		{"这家店人真多。", "味道确实不错嘛。"},
		{"我昨天又没睡好。", "少看点手机。"},
	}
)
