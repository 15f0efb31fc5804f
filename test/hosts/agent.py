"""A minimal agent on one of the official Python SDKs, as people write them: agent.py SDK FILE PROMPT

Keeps its history in a file and prints the last answer. MODEL_URL is the provider's address.
"""

import json
import os
import pickle
import subprocess
import sys


def read_file(path: str) -> str:
    """Reads a file."""
    with open(path) as file:
        return file.read()


def edit_file(path: str, old_text: str, new_text: str) -> str:
    """Replaces a text of a file."""
    text = read_file(path)
    if old_text not in text:
        return "Error: the file has no such text."
    with open(path, "w") as file:
        file.write(text.replace(old_text, new_text, 1))
    return f"Edited {path}."


def run_command(command: str) -> str:
    """Runs a command in the shell."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    end = "" if done.returncode == 0 else f"\nexit code {done.returncode}"
    return done.stdout + done.stderr + end


TOOLS = {tool.__name__: tool for tool in (read_file, edit_file, run_command)}
SYSTEM = "You mend what is wrong in a workspace, with the tools that you have. " * 20


def schema(tool):
    names = tool.__annotations__.keys() - {"return"}
    fields = {name: {"type": "string"} for name in sorted(names)}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def plain(message):
    return message.model_dump(exclude_none=True, exclude_unset=True)


def with_anthropic(url, history, prompt):
    from anthropic import Anthropic

    client = Anthropic(base_url=url, api_key="made-up")
    tools = [{"name": name, "description": tool.__doc__, "input_schema": schema(tool)} for name, tool in TOOLS.items()]
    history.append({"role": "user", "content": prompt})
    while True:
        with client.messages.stream(
            model="claude-sonnet-4-5",
            max_tokens=8_000,
            system=SYSTEM,
            tools=tools,
            cache_control={"type": "ephemeral"},
            messages=history,
        ) as stream:
            message = stream.get_final_message()
        history.append({"role": "assistant", "content": [plain(part) for part in message.content]})
        calls = [part for part in message.content if part.type == "tool_use"]
        if not calls:
            return "".join(part.text for part in message.content if part.type == "text")
        results = [(call.id, TOOLS[call.name](**call.input)) for call in calls]
        parts = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in results]
        history.append({"role": "user", "content": parts})


def with_chat(url, history, prompt):
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="made-up")
    functions = [{"name": name, "description": tool.__doc__, "parameters": schema(tool)} for name, tool in TOOLS.items()]
    tools = [{"type": "function", "function": function} for function in functions]
    if not history:
        history.append({"role": "system", "content": SYSTEM})
    history.append({"role": "user", "content": prompt})
    while True:
        answer = client.chat.completions.create(model="scripted", messages=history, tools=tools)
        message = answer.choices[0].message
        history.append(plain(message))
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            text = TOOLS[call.function.name](**json.loads(call.function.arguments))
            history.append({"role": "tool", "tool_call_id": call.id, "content": text})


def with_responses(url, history, prompt):
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="made-up")
    tools = [
        {"type": "function", "name": name, "description": tool.__doc__, "parameters": schema(tool), "strict": True}
        for name, tool in TOOLS.items()
    ]
    history.append({"role": "user", "content": prompt})
    while True:
        with client.responses.stream(
            model="scripted",
            instructions=SYSTEM,
            input=history,
            tools=tools,
            store=False,
            include=["reasoning.encrypted_content"],
        ) as stream:
            response = stream.get_final_response()
        history += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            text = TOOLS[call.name](**json.loads(call.arguments))
            history.append({"type": "function_call_output", "call_id": call.call_id, "output": text})


def with_genai(url, history, prompt):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="made-up", http_options=types.HttpOptions(base_url=url))
    calls = types.AutomaticFunctionCallingConfig(maximum_remote_calls=100)
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM, tools=list(TOOLS.values()), automatic_function_calling=calls
    )
    chat = client.chats.create(model="gemini-3-pro", history=history, config=config)
    answer = "".join(chunk.text or "" for chunk in chat.send_message_stream(prompt))
    history[:] = chat.get_history()
    return answer


SDKS = {"anthropic": with_anthropic, "openai-chat": with_chat, "openai-responses": with_responses, "gemini": with_genai}

if __name__ == "__main__":
    sdk, path, prompt = sys.argv[1:]
    history = []
    if os.path.exists(path):
        with open(path, "rb") as file:
            history = pickle.load(file)
    answer = SDKS[sdk](os.environ["MODEL_URL"], history, prompt)
    with open(path, "wb") as file:
        pickle.dump(history, file)
    print(answer)
