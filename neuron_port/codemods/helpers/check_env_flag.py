import os


def check_env_flag(name, default=""):
    """Whether a variable of the environment is "true", or a number above 0."""
    flag = os.environ.get(name, default)
    return flag == "true" or (flag.isdigit() and int(flag) > 0)
