"""A small file of every format of request logs, which holds the irregularities of the format."""

from __future__ import annotations

import json
from typing import NamedTuple


class Sample(NamedTuple):
    """A file and what is in it, times in seconds."""

    format: str
    suffix: str
    content: str
    release: list[float]
    prompt: list[int]
    output: list[int]
    tenant: list[str] | None = None
    model: list[str] | None = None
    by_name: bool = False


SAMPLES = [
    Sample(
        "generic",
        ".csv",
        "\ufeffarrival_s, input_tokens ,output_tokens,session_id,model\r\n"
        "1700158546.25, 10,1,s1,small\r\n"
        "\r\n"
        "1700158546.250000001,20,2,,large\r\n"
        "1700158550,30,0,s1, small",
        [0, 1e-9, 3.75],
        [10, 20, 30],
        [1, 2, 0],
        model=["small", "large", "small"],
    ),
    Sample(
        "generic",
        ".jsonl",
        '{"arrival_s": 0, "input_tokens": 5, "output_tokens": 6, "tenant": 7}\n'
        '{"arrival_s": 0.5, "input_tokens": 5.0, "output_tokens": 7, "tenant": 8}\n',
        [0, 0.5],
        [5, 5],
        [6, 7],
        tenant=["7", "8"],
    ),
    Sample(
        "access-log",
        ".jsonl",
        '{"timestamp": "2025-03-01T09:00:00.125Z", "prompt_tokens": 7, '
        '"completion_tokens": 3, "user": "a"}\n'
        '{"timestamp": "2025-03-01T10:00:00+01:00", "prompt_tokens": 8, '
        '"completion_tokens": 4, "user": " b "}\n'
        '{"timestamp": "2025-03-01 09:00:01Z", "prompt_tokens": 9, "completion_tokens": 5}\n',
        [0, 0.125, 1],
        [8, 7, 9],
        [4, 3, 5],
        tenant=["b", "a", ""],
    ),
    Sample(
        "azure",
        ".csv",
        "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
        "2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:46.6805901,396,109",
        [0, 1e-7],
        [374, 396],
        [44, 109],
    ),
    Sample(
        "azure-multimodal",
        ".csv",
        "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n"
        "2024-10-01 00:00:00+00:00,2,1000,5\n2024-10-01 00:00:00.500000+00:00,0,10,6\n",
        [0, 0.5],
        [1000, 10],
        [5, 6],
    ),
    Sample(
        "inference-perf",
        ".csv",
        "\ufeff2023-11-16 18:15:46.001, 374, 44\r\n2023-11-16 18:15:46.002, 10, 10\r\n"
        "2023-11-16 18:15:46.009, 10, 10\r\n2023-11-16 18:15:46.011, 10, 9",
        [0, 0.001, 0.008, 0.01],
        [374, 10, 10, 10],
        [44, 10, 10, 9],
        by_name=True,
    ),
    Sample(
        "inference-perf",
        ".csv",
        "\nTIMESTAMP, ContextTokens, GeneratedTokens\n2023-11-16 18:15:46.001, 374, 44\n",
        [0],
        [374],
        [44],
        by_name=True,
    ),
    Sample(
        "inference-perf",
        ".csv",
        "\n2023-11-16 18:15:46, 44, 44\n",
        [0],
        [44],
        [44],
        by_name=True,
    ),
    Sample(
        "burstgpt",
        ".csv",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,230,1317,API log\n",
        [0, 40],
        [472, 1087],
        [18, 230],
        model=["ChatGPT", "GPT-4"],
    ),
    Sample(
        "burstgpt",
        ".csv",
        "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log\n"
        "19440110.5,,2,ChatGPT,36,29,65,API log\n",
        [0, 0.5],
        [906, 36],
        [446, 29],
        model=["GPT-4", "ChatGPT"],
    ),
    Sample(
        "mooncake",
        ".jsonl",
        '{"timestamp": 27000, "input_length": 6758, "output_length": 500, '
        '"hash_ids": [0, 1, 36028797018963968]}\n'
        '{"timestamp": 27000, "input_length": 126195, "output_length": 1, "hash_ids": []}\n'
        '{"timestamp": 30001, "input_length": 512, "output_length": 2, "hash_ids": [0]}',
        [0, 0, 3.001],
        [6758, 126195, 512],
        [500, 1, 2],
    ),
    Sample(
        "aiperf",
        ".jsonl",
        '{"session_id": "a", "timestamp": 0, "input_length": 10, "output_length": 4}\n'
        '{"session_id": "b", "timestamp": 1500.5, "input_length": 11, "output_length": 5}\n',
        [0, 1.5005],
        [10, 11],
        [4, 5],
    ),
    Sample(
        "vllm-timed",
        ".jsonl",
        '{"timestamp": 1, "input_length": 10, "output_length": 4, "hash_ids": [1]}\n'
        '{"timestamp": 4, "input_length": 11, "output_length": 5, "hash_ids": [2]}\n',
        [0, 3],
        [10, 11],
        [4, 5],
        by_name=True,
    ),
    Sample(
        "bailian",
        ".jsonl",
        '{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 521, '
        '"output_length": 132, '
        '"type": "text", "turn": 1, "hash_ids": [1089]}\n'
        '{"chat_id": 160, "parent_chat_id": 159, "timestamp": 62.5, "input_length": 660, '
        '"output_length": 80, '
        '"type": "text", "turn": 2, "hash_ids": [1089, 1090]}\n',
        [0, 1.386],
        [521, 660],
        [132, 80],
    ),
    Sample(
        "ragpulse",
        ".jsonl",
        '{"timestamp": "27", "input_length": 3861, "output_length": 127, '
        '"hash_ids": {"sys_prompt": [8325], "history": []}, "session_id": "1758-xa"}\n'
        '{"timestamp": "29.5", "input_length": 12, "output_length": 1, "hash_ids": {}, "session_id": ""}\n\n',
        [0, 2.5],
        [3861, 12],
        [127, 1],
    ),
    Sample(
        "vllm-bench",
        ".json",
        '{"date": "20250301-090000", "input_lens": [1024, 7, 8], "output_lens": [128, 1, 2], '
        '"ttfts": [0.1, 0.2, 0.3], "itls": [[0.01], [], []], "start_times": [81234.5, 81234.25, 81236.0], '
        '"errors": ["", "", ""], "generated_texts": ["a", "b", "c"]}',
        [0, 0.25, 1.75],
        [7, 1024, 8],
        [1, 128, 2],
    ),
    Sample(
        "vllm-bench",
        ".json",
        json.dumps({"start_times": [2, 1], "input_lens": [3, 4], "output_lens": [5, 6]}, indent=4),
        [0, 1],
        [4, 3],
        [6, 5],
    ),
    Sample(
        "arena",
        ".csv",
        "req_time_s,client,prompt_tokens,output_tokens\n0.0,lora-8-13,13,199\n0.25,lora-8-2,36,137\n",
        [0, 0.25],
        [13, 36],
        [199, 137],
        tenant=["lora-8-13", "lora-8-2"],
    ),
    Sample(
        "vidur",
        ".csv",
        ",arrived_at,num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n"
        "0,0.5,100,10,110,10.0\n1,0.75,200,20,220,0.1\n",
        [0, 0.25],
        [100, 200],
        [10, 20],
    ),
    Sample(
        "vidur-older",
        ".csv",
        "PromptTokenCount,GeneratedTokenCount,Time\n100,10,3\n200,20,4.5\n",
        [0, 1.5],
        [100, 200],
        [10, 20],
    ),
    Sample(
        "splitwise",
        ".csv",
        "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
        "0,2,0,0.0,1,14,211\n1,2,0,4.314579,1,396,109\n",
        [0, 4.314579],
        [14, 396],
        [211, 109],
    ),
    Sample(
        "llmservingsim",
        ".jsonl",
        '{"input_toks": 2358, "output_toks": 531, "arrival_time_ns": 4611686018427380001}\n'
        '{"input_toks": 12, "output_toks": 1, "arrival_time_ns": 4611686018427380000, '
        '"input_tok_ids": [1, 2]}\n',
        [0, 1e-9],
        [12, 2358],
        [1, 531],
    ),
    Sample(
        "blis",
        ".csv",
        "request_id,client_id,tenant_id,slo_class,input_tokens,output_tokens,model,deadline_us,arrival_time_us,"
        "send_time_us,status\n"
        "0,c1,t1,batch,512,128,,0,250,1708100000000000,ok\n"
        "1,c1,t2,batch,698,64,,0,1590500,,\n",
        [0, 1.59025],
        [512, 698],
        [128, 64],
        tenant=["t1", "t2"],
        model=["", ""],
    ),
]
