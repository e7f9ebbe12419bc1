// 中文，共同的兴趣。

import type { enMatch } from "./words.match.en";

export const zhMatch: Record<keyof typeof enMatch, string> = {
  "match.title": "共同的兴趣", "match.says": "两个人先得知有多少个共同的兴趣；双方都愿意的话，再得知是哪些。只有一方有的，另一方不会知道。你们用任何方式互发一行文字，不需要中继。", "match.go": "比较兴趣", "match.goSays": "找出你和别人的共同点，其余的不说。",
  "match.yours": "你的兴趣", "match.yoursSays": "按词比较：大小写和空格不算，也不翻译。最多 32 个。没有人看得到这份清单。", "match.word": "一个兴趣，比如围棋", "match.add": "添加", "match.remove": "去掉：{name}", "match.propose": "从我的记忆里提议", "match.proposals": "点一下想比较的：", "match.noProposals": "你的记忆里没有更多可提议的。",
  "match.ask": "问一个人", "match.askSays": "对方回答后，双方都会得知有多少个共同的兴趣。同一把密钥 30 天内只能比较一次，总共十次。", "match.who": "你怎么称呼对方", "match.learns": "{name}回答后，会得知你的 {n} 个兴趣里有多少个也是他的。", "match.make": "生成消息", "match.first": "请先选一个兴趣。",
  "match.open": "打开消息", "match.openSays": "别人发给你的、以 locket-match 开头的一行。", "match.message": "消息", "match.doOpen": "打开", "match.asked": "有人问你", "match.askedSays": "请当面或打电话问对方，对方的 Locket 为密钥显示的是不是这些词。", "match.answerSays": "你回答后，对方会得知你的 {n} 个兴趣里有多少个也是他的，你也一样。", "match.answer": "回答",
  "match.send": "把这个发给{name}", "match.sendSays": "用邮件或任何聊天工具都行。除了对方，谁也读不了。", "match.list": "比较", "match.none": "你还没有和谁比较过兴趣。",
  "match.waits": "还不知道{name}和你有多少个共同的兴趣。", "match.count": "据对方的程序说，你和{name}有 {n} 个共同的兴趣。", "match.agreed": "你已告诉{name}他的哪些兴趣你也有。对方也告诉你之后，你就会看到。", "match.told": "{name}已告诉你是哪些。你也告诉对方之后，就会看到。", "match.both": "你和{name}的共同兴趣：{what}。", "match.ended": "已结束：{why}。",
  "match.end.both have said which": "双方都说了，没有共同的", "match.end.its time is over": "30 天已过", "match.end.sent another message in the place of one that was answered": "对方在已回答的消息之后换了另一条", "match.end.answers other offers than those that were made": "对方回答的不是当初提出的", "match.end.sent a count that is none": "对方发来的数目无效", "match.end.answered with another key than was offered": "对方回答时换了密钥", "match.end.sent an answer that is none": "对方发来的回答无效",
  "match.which": "告诉是哪些", "match.whichSays": "{name}会得知他的哪些兴趣你也有。双方都说了之后，你才会看到。", "match.whichRisk": "如果对方改过程序，可以只看你的而什么都不告诉你。", "match.tell": "告诉对方是哪些", "match.again": "再次给出消息", "match.forget": "忘掉", "match.forgotten": "这里已忘掉。30 天内会记住和这把密钥比较过。",
};
