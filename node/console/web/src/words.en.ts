// English. {name} stands for a value; {n|one|many} chooses by number.

export const en = {
  "nav.label": "Pages", "nav.today": "Today", "nav.ask": "Ask", "nav.memories": "Memories", "nav.review": "Review", "nav.devices": "Devices",
  skip: "Skip to the page", wait: "One moment…", more: "Show more", close: "Close", cancel: "Cancel", undo: "Undo", copy: "Copy", copied: "Copied.", copyFailed: "The browser did not let the page copy it.",

  "time.seconds": "{n} s", "time.minutes": "{n} min", "time.hours": "{n} h", "time.hoursMinutes": "{h} h {m} min",

  "error.unreachable": "Locket does not answer. If it was locked or stopped, start it and open the console again.",
  "error.locked": "Locket is locked.", "error.failed": "That did not work.",
  "page.none": "There is no such page",

  "door.none": "Open the console from your own machine", "door.ended": "This session has ended", "door.used": "This link was used or has expired",
  "door.how": "Nobody sees your memory without you. Type this where Locket runs:",
  "unlock.title": "Locket is locked", "unlock.says": "What your wearables send is taken and kept sealed. Unlock it to look at your memory.",
  "unlock.passphrase": "Passphrase", "unlock.do": "Unlock", "unlock.wrong": "That is not the passphrase.",

  "state.listening": "Listening", "state.paused": "Paused", "state.pausedUntil": "Paused until {at}", "state.away": "No connection",
  "state.pinned": "Pinned", "state.superseded": "Changed since", "state.repeated": "Said again since", "state.archived": "Put away", "state.cold": "Kept away from this device",
  "pause.begin": "Pause for an hour", "pause.end": "Listen again", "pause.begun": "Paused. What your wearables send is dropped.", "pause.ended": "Locket listens again.",

  "palette.title": "All actions", "palette.button": "Go to…", "palette.hint": "Go somewhere, do something, or type a question",
  "act.yesterday": "Yesterday", "act.week": "This week", "act.pause10": "Pause for 10 minutes", "act.pause60": "Pause for an hour", "act.pause": "Pause until I say so",
  "act.forget10": "Forget the last 10 minutes", "act.sync": "Sync now", "act.theme": "Dark or light", "act.lang": "换成中文 (Chinese)", "act.lock": "Lock Locket", "act.leave": "End this session",
  "act.day": "Go to {day}", "act.ask": "Ask: {text}",

  "day.summary": "{lines} {lines|line|lines}, {people} {people|person|people}, {memories} {memories|thing|things} remembered",
  "day.before": "The day before", "day.next": "The next day", "day.jump": "Jump to a day", "day.week": "Week", "day.strip": "This week, {month}", "day.count": "{n} {n|line|lines}", "day.cell": "{day}, {n} {n|line|lines}",
  "day.empty": "Nothing was heard on this day", "day.emptyHow": "Either no wearable was on, or what it heard was not kept.",
  "day.filter": "Show only", "day.kept": "What was remembered", "day.quiet": "quiet for {long}", "day.paused": "Paused from {from} to {to} ({long})", "day.pausedOn": "Paused since {from}",
  "day.lost": "The wearable lost something:", "day.more": "This day has more lines than a page can show.",
  "week.title": "{from} – {to}", "week.before": "The week before", "week.next": "The next week", "week.day": "Day", "week.empty": "Nothing was heard this week", "week.last": "Last heard on {day}",
  "ribbon.label": "The day as a strip: click a time to go there", "ribbon.kept": "something was remembered", "ribbon.said": "talk", "ribbon.photo": "photo",
  "speaker.none": "Somebody",
  "line.about": "About this line", "line.marked": "You marked this by button", "line.hear": "Hear this line", "line.remembered": "Remembered from this line", "line.redacted": "A secret was taken out and put into the vault",
  "line.when": "Said at", "line.where": "Place", "line.why": "Why nothing was remembered", "line.also": "What else", "line.nothingElse": "Everything that a rule knows was remembered.", "line.noReason": "No reason is kept.",
  "line.search": "Find alike", "line.forget": "Forget this line…",
  "photo.gone": "This picture is not kept any more",
  "sound.play": "Play the recording", "sound.stop": "Stop", "sound.progress": "How far it has played", "sound.none": "The recording is not kept any more.", "sound.length": "Recording, {long}", "sound.title": "Recording", "sound.waits": "waits for a transcript",

  "refused.nothing": "It says nothing that a rule knows.", "refused.question": "It asks, and says nothing by itself.", "refused.filler": "Only sounds and fillers.", "refused.greeting": "A greeting or a courtesy.",
  "refused.command": "It asks for something to be done.", "refused.boilerplate": "There is no text.", "refused.duplicate": "It was said or shown before.", "refused.gap": "The wearable lost something.",
  "refused.feedback": "It is about Locket itself.", "refused.invalid": "It broke a rule.", "refused.uncertain": "It was not certain enough.", "refused.private": "It was in a private zone.",
  "secret.password": "password", "secret.pin": "PIN", "secret.secret": "secret", "secret.token": "access key", "secret.card": "card number", "secret.key": "key", "secret.code": "code", "secret.credential": "credential", "secret.account": "account",

  "forget.title": "Forget for good", "forget.says": "This is what would go, from everywhere. It can't be undone.", "forget.nothing": "There is nothing to forget here.",
  "forget.memories": "{n} {n|memory|memories}", "forget.lines": "{n} {n|line|lines} that {n|was|were} said", "forget.trimmed": "{n} {n|memory stays|memories stay}, on other evidence", "forget.events": "And {n} {n|message|messages} as {n|it|they} came in.",
  "forget.andMore": "and {n} more", "forget.confirm": "Forget for good", "forget.done": "Forgotten: {memories} {memories|memory|memories}, {lines} {lines|line|lines}.",

  "ask.title": "What would you like to know?", "ask.hint": "When is the dentist?", "ask.do": "Ask", "ask.ideas": "For instance", "ask.recent": "Asked before", "ask.idea1": "When is the dentist?", "ask.idea2": "Who is allergic to hazelnuts?", "ask.idea3": "Where is my passport?",
  "filter.label": "Narrow it down", "filter.memories": "Only what was remembered", "filter.utterances": "Only what was said", "filter.who": "Said by", "filter.onlyWho": "Only what {who} said",
  "asof.label": "As things stood on", "asof.now": "today",
  "answer.unknown": "I don't know", "answer.unknownThen": "I did not know on {day}", "answer.nearest": "Nothing in your memory answers this. Below is the nearest there is, and it may be about something else.", "answer.none": "Nothing in your memory is even near this.",
  "answer.more": "Also found", "answer.near": "The nearest there is", "answer.cites": "What the answer is from", "answer.model": "In the words of {model}, from what stands below.", "answer.trouble": "The language model gave no answer; this is what your memory says itself.",
  "answer.missing": "{n} {n|hit is|hits are} kept on another device that does not answer now.",
  "evidence.day": "in its day", "hit.said": "Said", "hit.shared": "Shared by", "hit.sharedUntil": "until {day}", "hit.why": "Why this?", "hit.cold": "Kept on another device that does not answer now",
  "score.title": "Why it was found",
  "score.bm25_match": "The question's words", "score.string_match": "Spelling", "score.lexicon_match": "Words of the matter", "score.speaker_match": "Who said it", "score.time_match": "The time you named", "score.entity_match": "A name you named", "score.graph_match": "Names that belong together",
  "score.context_match": "Answers somebody's question", "score.embedding_match": "Meaning", "score.rerank_match": "Judged by a model", "score.when": "Tells when", "score.where": "Tells where", "score.length": "Tells more", "score.pinned": "You pinned it", "score.derived": "Taken from a line shown here", "score.question": "Is a question itself",

  "kinds.label": "Kinds of memories", "kind.all": "All", "kind.core": "About you", "kind.semantic": "Facts", "kind.episodic": "Events", "kind.procedural": "How-tos", "kind.resource": "Photos and papers", "kind.vault": "Secrets",
  "kind1.core": "About you", "kind1.semantic": "Fact", "kind1.episodic": "Event", "kind1.procedural": "How-to", "kind1.resource": "Photo or paper", "kind1.vault": "Secret",
  "about.all": "Everything Locket remembers, newest first.", "about.core": "What an assistant always has in mind about you.", "about.semantic": "What is so: people, things, places, likes and dislikes.", "about.episodic": "What happened, and what is planned.",
  "about.procedural": "How things are done, step by step.", "about.resource": "What your glasses saw, what was recorded, what you put in.", "about.vault": "Passwords and codes that were said aloud. They are in no other place, and shown only when you ask.",
  "categories.label": "Categories", "categories.all": "All categories", "states.label": "State", "states.active": "As things are", "states.superseded": "As things were", "states.archived": "Put away",
  "list.empty": "Nothing here yet", "list.emptyHow": "What you say and hear fills this page by itself.", "list.emptyCore": "Tell Locket who you are: locket add --type core \"I am a nurse, and I like short answers.\"", "list.cold": "{n} more are kept away from this device, and are found when you ask.",
  "block.human": "You", "block.persona": "How to be with you", "block.used": "{used} of {limit} characters",
  "category.personal_details": "Personal details", "category.family": "Family", "category.friends": "Friends", "category.work": "Work", "category.education": "Education", "category.health": "Health", "category.food": "Food", "category.travel": "Travel", "category.sports": "Sports",
  "category.music": "Music", "category.entertainment": "Entertainment", "category.hobbies": "Hobbies", "category.technology": "Technology", "category.home": "Home", "category.money": "Money", "category.plans": "Plans", "category.preferences": "Preferences", "category.misc": "Other",

  "vault.show": "Show", "vault.hide": "Hide", "vault.left": "Hides itself in {n} s", "vault.log": "Who looked", "vault.logEmpty": "No secret was shown yet.", "vault.empty": "The vault is empty", "vault.emptyHow": "A password or code that is said aloud goes here, and is taken out of everything else.", "vault.open": "Open the vault", "vault.do": "Open for 5 minutes",

  "memory.actions": "What you can do", "memory.steps": "Steps", "memory.content": "What it says", "memory.evidence": "Where it comes from", "memory.noEvidence": "You said it yourself; there is no other evidence.", "memory.changed": "How it changed", "memory.before": "Before", "memory.this": "This", "memory.after": "After", "memory.same": "Says the same", "memory.history": "History",
  "do.pin": "Pin", "do.unpin": "Unpin", "do.correct": "Correct", "do.archive": "Put away", "do.unarchive": "Take back out", "do.forget": "Forget…",
  "did.pinned": "Pinned: no machine changes it now.", "did.unpinned": "Not pinned any more.", "did.corrected": "Corrected. What you say counts.", "did.archived": "Put away.", "did.unarchived": "Taken back out.",
  "edit.text": "What is right", "edit.value": "Which is ({what})", "edit.save": "Save", "edit.says": "What you say outranks what a machine heard.",
  "fact.when": "When", "fact.where": "Where", "fact.who": "Who", "fact.since": "True since", "fact.until": "Until", "fact.names": "Names", "fact.heard": "Heard", "fact.times": "{n} {n|time|times}", "fact.sure": "Certain", "fact.by": "Found by", "fact.learnt": "Learnt",
  "sure.high": "yes", "sure.some": "fairly", "sure.low": "hardly",
  "by.person": "You", "by.api": "You, by a program", "by.import": "An import", "by.facts": "Facts reader", "by.plans": "Plans reader", "by.howto": "How-to reader", "by.secrets": "Secrets keeper", "by.speech": "Sound", "by.scene": "Camera", "by.language": "Languages", "by.node": "Locket", "by.dream": "Tidying up", "by.transcript": "Transcript",
  "change.ADD": "Remembered", "change.UPDATE": "Changed", "change.DELETE": "Ended", "change.NOOP": "Heard again", "change.REFUSE": "Not taken",

  "review.says": "What waits for your word. Keys:", "review.conflicts": "What does not fit together", "review.none": "Nothing contradicts. Your devices and you agree.", "review.settled": "Settled, on all your devices.", "review.choose": "This is right", "review.both": "Both are right", "review.here": "this device", "review.other": "another device",
  "conflict.field": "Two devices say different things", "conflict.slot": "Two answers to one question", "conflict.pin": "Something was heard against what you pinned",
  "dream.title": "Tidying up", "dream.says": "Locket can join what is said twice, put old errands away and shorten what is full. Nothing that you pinned or said yourself is touched, and all of it can be undone.", "dream.look": "See what it would do", "dream.apply": "Do {n} {n|step|steps}", "dream.nothing": "There is nothing to tidy up.", "dream.done": "Done: {n} {n|step|steps}.", "dream.into": "becomes", "dream.hidden": "A secret that stands in the open", "dream.claims": "{n} {n|change|changes}", "dream.undone": "undone",
  "dream.merge": "Join with another", "dream.archive": "Put away", "dream.move": "Move", "dream.summarise": "Sum up", "dream.scrub": "Move into the vault",

  "devices.says": "What sends, what keeps, and how this one is.", "tile.memories": "memories", "tile.lines": "lines that were said", "tile.waiting": "still to be worked through", "tile.transcribe": "{n} {n|waits|wait} for a transcript", "tile.disk": "on this disk", "tile.free": "{size} free",
  "wearables.title": "Wearables", "wearables.none": "None has credentials of its own yet. Give it some:", "wearables.on": "Connected", "wearables.off": "Away", "wearables.never": "never heard", "wearables.broker": "They connect to",
  "members.title": "Your other devices", "members.here": "this one", "role.owner": "yours", "role.worker": "worker", "role.reader": "reader", "role.device": "yours",
  "sync.none": "Nothing leaves this machine: no relay and no other device is set up.", "sync.at": "In sync since {at}.", "sync.never": "Nothing was exchanged yet.", "sync.pending": "{n} {n|change|changes} to send", "sync.done": "Synced.",
  "plugins.title": "What listens and looks", "plugins.on": "On", "plugins.off": "Off", "plugins.blocks": "Blocks", "plugins.calls": "{n} {n|time|times}",
  "doctor.title": "Is all well?", "doctor.says": "Looks through keys, disk, store and connections.", "doctor.look": "Look", "doctor.good": "All is well: {n} {n|thing was|things were} looked at.",
} as const satisfies Record<string, string>;
