// 中文，社群。

import type { enPool } from "./words.pool.en";

export const zhPool: Record<keyof typeof enPool, string> = {
  "pool.title": "社群", "pool.says": "社群是一个空间，几个人把各自记忆的脱敏副本放进去。提问时，别人放进的内容会和你自己的一起回答，并标明是谁的。中继什么也读不到。", "pool.go": "你的社群", "pool.yours": "你所在的社群", "pool.none": "你不在任何社群里。",
  "pool.role.owner": "群主", "pool.role.moderator": "管理员", "pool.role.member": "成员", "pool.people": "{n} 名成员", "pool.items": "{n} 条内容", "pool.over": "不再向你提供", "pool.overSays": "中继不再向你提供这个社群：你被请出了，或者它已结束。你看到的是之前取来的。",
  "pool.new": "建立社群", "pool.newSays": "它加密存放在你的中继，你是群主：由你定规则、任命管理员，也可以结束它。成员不需要账户。", "pool.name": "名称", "pool.as": "成员怎么称呼你", "pool.found": "建立", "pool.made": "你建立了{name}。现在请人加入吧。",
  "pool.join": "加入社群", "pool.joinSays": "先由社群里的人让你的密钥进入，再把链接发给你。之后所有成员都能看到你放进的内容，也知道你是成员。", "pool.call": "你和你的规则怎么称呼它（可不填）", "pool.enter": "加入", "pool.joined": "你已加入{name}。",
  "pool.gone": "你不在这个社群里", "pool.you": "你是{role}", "pool.add": "分享内容", "pool.what": "想分享什么？", "pool.theirs": "成员看到的", "pool.put": "分享到社群", "pool.stays": "你随时可以收回。成员在那之前取走的仍在他们那里。", "pool.isIn": "已分享到社群。",
  "pool.rules": "规则", "pool.noRules": "群主还没有定规则。", "pool.rule": "修改规则", "pool.setRules": "定下规则", "pool.ruled": "所有成员现在都能读到规则。",
  "pool.questions": "问题", "pool.question": "向所有成员提问", "pool.ask": "提问", "pool.askSays": "{n} 名成员以及以后加入的人都能看到你问了这个问题，也能看到回答。中继只看到有成员发了东西，以及它的大小。", "pool.asked": "已提问。允许回答的 Locket 会在几分钟内回答。", "pool.answers": "回答", "pool.unanswered": "还没有人回答。",
  "pool.knows": "{n} 名成员知道问了什么、谁问的，以及每个回答；以后加入的人也能读到。中继只看到有成员发了东西，以及它的大小。", "pool.knowsFormer": "{n} 名成员知道问了什么、谁问的，以及每个回答；离开或被请出之前能读到的 {former} 人也知道；以后加入的人也能读到。中继只看到有成员发了东西，以及它的大小。",
  "pool.in": "成员分享的内容", "pool.empty": "还没有内容。", "pool.byYou": "你", "pool.back": "收回", "pool.isOut": "已从社群取出，并在中继删除。", "pool.remove": "移除", "pool.removeSays": "每个成员的 Locket 都会隐藏它，并显示是谁移除的、为什么。已经取走的人可能留着它。", "pool.reason": "为什么？所有成员都能读到。", "pool.hidden": "已移除。所有成员都能读到原因。",
  "pool.removed": "已移除：{n}", "pool.removedSays": "这些对所有成员隐藏。放在这里是为了让你评判移除是否得当。", "pool.author": "放进它的人已不是成员。", "pool.restore": "重新显示", "pool.restoreSays": "这次移除不再算数，日志会写明是你撤销的。", "pool.restored": "已对所有成员重新显示。",
  "pool.members": "成员", "pool.itsYou": "你", "pool.leaving": "正在离开", "pool.invite": "让人加入", "pool.propose": "推荐一个人", "pool.inviteSays": "对方把密钥发给你，它不是秘密：就在对方的“分享”页上，locket share key 也会显示。加入的人也能读到之前说过的。", "pool.proposeSays": "由群主或管理员决定是否让他加入。对方把密钥发给你，它不是秘密：就在对方的“分享”页上，locket share key 也会显示。", "pool.guest": "对方的名字，所有成员都会看到", "pool.moderator": "作为管理员", "pool.moderatorSays": "管理员可以让人加入，也可以移除内容和成员。一把密钥的角色不能再改。", "pool.read": "查看密钥", "pool.link": "把这个链接发给已获准加入的人。没有他们的密钥，它什么也打不开。",
  "pool.compareSays": "请当面或打电话问{name}，对方的 Locket 为密钥显示的是不是这些词，以防有人换上自己的密钥。", "pool.other": "这把密钥是{by}推荐的，有可能用这个名字换上了别人的密钥。", "pool.readsAll": "加入的人能读到社群里的一切，包括之前说过的。", "pool.let": "让其加入", "pool.doPropose": "推荐", "pool.proposed": "已推荐。由群主或管理员决定是否让{name}加入。", "pool.isMember": "{name}已获准加入。请把链接发过去。",
  "pool.waiting": "等待加入的人", "pool.waitingSays": "由成员推荐。", "pool.proposedBy": "由{name}推荐", "pool.putOutSays": "此后说的他们都读不到，他们放进的内容会隐藏。已取走的仍在他们那里。此操作无法撤销：他们可以用另一把密钥再加入。", "pool.putOut": "已请出。所有成员都能读到原因。",
  "pool.answering": "由你的 Locket 回答", "pool.answeringSays": "它可以自己回答别人的问题，最多用三条记忆的副本，由你在这里选定，并且你的规则允许；每名成员一天最多二十个问题。所有成员都能看到回答，也知道是你的。它不添加模型的话。", "pool.answersWith": "回答时用：", "pool.answersWithout": "去掉：", "pool.answersChoose": "允许回答", "pool.answersChange": "更改", "pool.answersEnd": "不再回答", "pool.answersSet": "就这样回答", "pool.answersOn": "从现在起，你的 Locket 会回答。", "pool.answersOff": "你的 Locket 不再回答。",
  "pool.log": "日志", "pool.something": "已不在的内容", "pool.did.founded": "建立了社群：", "pool.did.let in": "添加了", "pool.did.put out": "请出了", "pool.did.left": "移出了离开的", "pool.did.set the rules": "定下规则：", "pool.did.set the fee": "定下付费加入的费用：", "pool.did.removed": "移除了", "pool.did.restored": "重新显示了",
  "pool.look": "刷新", "pool.looked": "已是最新。", "pool.leave": "离开", "pool.leaveSays": "你放进的会取出，并在中继删除；你这里有的也会移除。别人已取走的仍在他们那里。要再回来，需要另一把密钥。", "pool.end": "结束社群", "pool.endSays": "它对所有成员结束，并在中继删除。他们已取走的仍在他们那里。此操作无法撤销。", "pool.left": "你已不在{name}里。",
};
