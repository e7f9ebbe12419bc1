// English, for what each device has, what is kept how long, and what can be done from where.

export const enKeep = {
  "members.unnamed": "a device without a name",
  "members.unknown": "What it has is not known here: a device that only reads tells nobody.",
  "members.behind": "It had {has} of the others' {all} changes on {at}; whether it got the other {behind} since is not known.",
  "members.allSaid": "It said on {at} that it has all that is here.",
  "members.allMet": "It had all that is here when the two met in the same network on {at}.",
  "members.sent": "{n} {n|change|changes} of its own {n|is|are} here.",
  "members.silent": "Let in on {at}, and it has sent nothing since.",
  "members.onlyIt": "Which photos and recordings another device keeps, and what it has packed away, only that device knows.",
  "members.hot": "{n} {n|memory is|memories are} here whole, also those of how things were and those put away.",
  "members.cold": "{n} {n|is|are} packed away at the relay.",
  "members.media": "{n} {n|photo or recording is|photos and recordings are} here.",
  "members.coldMedia": "{n} {n|is|are} at the relay alone.",
  "role.writer": "yours", "role.extractor": "worker",
  "afar.how": "Changes are made on the machine on which Locket runs, in its console or by", "afar.none": "Not from another machine",
  "parked.title": "Lines that the language model failed on", "parked.says": "They are kept and found like any other. It gave no usable answer about what to remember of them.", "parked.tries": "asked {n} {n|time|times}", "parked.first": "These are the first {n}.",
  "room.title": "Room on this disk", "room.says": "With a limit, the memories that are asked for least are kept at the relay alone, sealed, with their place in the index here; they come back when they are wanted. Pinned ones, what an assistant always has in mind, secrets, and what no relay has yet stay here.", "room.budget": "Limit", "room.none": "None.", "room.set": "It is a setting of the machine:", "room.records": "{n} {n|memory|memories}", "room.hot": "Memories here, also of how things were and put away", "room.cold": "Memories at the relay alone", "room.media": "Photos and recordings here", "room.coldMedia": "Photos and recordings at the relay alone", "room.blocked": "The limit is not kept:", "room.missing": "What is at the relay can't be fetched now:",
  "room.keep": "Keep to the limit now", "room.all": "Bring all memories here", "room.cooled": "{n} {n|memory is|memories are} at the relay alone now.", "room.back": "{n} {n|memory|memories} came back.", "room.left": "{n} came back, {left} can't be fetched now.", "room.photos": "Copy all photos and recordings here", "room.photosAt": "{n} of {of}", "room.photosHere": "All photos and recordings are here; {n} {n|was|were} copied.", "room.photosLeft": "{n} {n|was|were} copied; {left} no device has sent yet.",
  "kept.title": "How long things are kept", "kept.says": "Rules end what was not heard again for as long as they say, on all your devices. What is pinned stays.", "kept.look": "The rules, and what they would end now", "kept.none": "There are no rules: memories stay until you forget them.", "kept.ends": "Kept long enough by now: {memories} {memories|memory|memories} and {lines} {lines|line|lines}. They go when the node tidies up next.",
} as const satisfies Record<string, string>;
